package work

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
)

// job holds the number of this process in a cluster job, read from the environment.
type job struct {
	name   string // of the variable
	number int
	array  bool // the job is an element of an array, whose number is a part
	count  int  // of processes; 0 if it is not known
}

// fromOne is the variable that counts from 1, and is 0 outside of an array.
const fromOne = "LSB_JOBINDEX"

// variables pairs environment variables with the number of a job and with the count of
// processes; the first that is set decides. Slurm's own comes last: it is 0 in all processes
// that an mpirun within a job starts.
var variables = []struct{ number, count string }{
	{"SLURM_ARRAY_TASK_ID", ""},
	{"PBS_ARRAY_INDEX", ""},
	{fromOne, ""},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"},
	{"SLURM_PROCID", "SLURM_NTASKS"},
}

func fromEnvironment() (*job, error) {
	var names []string
	for _, v := range variables {
		names = append(names, v.number)
		text := os.Getenv(v.number)
		if text == "" || v.number == fromOne && text == "0" {
			continue
		}
		// An array numbers parts; the ranks of an MPI job number processes, which may be fewer
		// than the parts.
		j := &job{name: v.number, array: v.count == ""}
		var err error
		if j.number, err = strconv.Atoi(text); err != nil || j.number < 0 {
			return nil, shell.Usagef("--part env: %s is %q; it must be a number from 0", v.number, text)
		}
		if v.number == fromOne {
			j.number--
		}
		if count, err := strconv.Atoi(os.Getenv(v.count)); err == nil && count > j.number {
			j.count = count
		}
		return j, nil
	}

	return nil, shell.Usagef("--part env: none of %s is set; start the command by a job script, or "+
		"give the number", strings.Join(names, ", "))
}

// processes returns how many numbers apart the parts of this process are.
func (j *job) processes(parts int) int {
	// Without a known number of processes a job makes its own part alone.
	if j.array || j.count == 0 {
		return parts
	}
	return j.count
}

// describe says which parts the process makes, and why.
func (j *job) describe(list []int) string {
	said := j.number
	if j.name == fromOne {
		said++
	}
	text := fmt.Sprintf("%s is %d", j.name, said)
	if j.count > 0 {
		text += fmt.Sprintf(" of %d processes", j.count)
	}
	switch len(list) {
	case 0:
		return text + ", so none"
	case 1:
		return fmt.Sprintf("%d, as %s", list[0], text)
	}

	return fmt.Sprintf("%d to %d, %d parts, as %s", list[0], list[len(list)-1], len(list), text)
}
