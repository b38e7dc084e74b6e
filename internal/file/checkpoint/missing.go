package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
)

// A MissingError says which of the parts of a work folder are not there.
type MissingError struct {
	Missing []int // numbers, ascending
	Parts   int
	Folder  string
}

// Error names the numbers as ranges.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: %d of %d parts are missing: %s", e.Folder, len(e.Missing), e.Parts,
		Ranges(e.Missing))
}

// Ranges writes ascending numbers as 0-3,7, as Slurm's --array takes them.
func Ranges(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		text := strconv.Itoa(numbers[i])
		if j > i {
			text += "-" + strconv.Itoa(numbers[j])
		}
		out = append(out, text)
		i = j + 1
	}

	return strings.Join(out, ",")
}
