package work

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/knn/parts"
)

// scripts by kind, with words in braces for what differs.
var scripts = map[string]string{
	"slurm": `#!/bin/sh
# Submits three jobs: the first step, an array of the parts, and the merge.{plan}
# Add what your cluster asks for (--account, --partition) to each. If a job fails, the later ones are
# cancelled. To repeat only the parts that are missing:
#   PARTS=$({missing}) sh this-script
set -e
first=$(sbatch --parsable --job-name=bigfit-first{first needs} --wrap {divide quoted})
array=$(sbatch --parsable --job-name=bigfit-part{part needs} --dependency=afterok:$first --kill-on-invalid-dep=yes --array=${PARTS:-0-{last}} --wrap {env quoted})
sbatch --parsable --job-name=bigfit-merge{merge needs} --dependency=afterok:$array --kill-on-invalid-dep=yes --wrap {merge quoted}
`,
	"pbs": `#!/bin/sh
# Submits three jobs to PBS Pro or OpenPBS: the first step, an array of the parts, and the merge.{plan}
# Add what your cluster asks for (-A, -q) to each. To repeat the parts that are missing run this
# script again: those that are there take no time. {missing} lists them.
set -e
submit() { line=$1; shift; printf '%s\n' 'cd "$PBS_O_WORKDIR" || exit 1' "$line" | qsub -V "$@"; }
first=$(submit {divide quoted} -N bigfit-first{first needs})
array=$(submit {env quoted} -N bigfit-part{part needs} -J 0-{last} -W depend=afterok:$first)
submit {merge quoted} -N bigfit-merge{merge needs} -W depend=afterok:$array
`,
	"lsf": `#!/bin/sh
# Submits three jobs to LSF: the first step, an array of the parts, and the merge.{plan}
# Add what your cluster asks for (-P, -q) to each. To repeat the parts that are missing run this
# script again: those that are there take no time. {missing} lists them.
set -e
submit() { said=$(bsub "$@") && printf '%s\n' "$said" | sed 's/[^<]*<\([0-9]*\)>.*/\1/;q'; }
first=$(submit -J bigfit-first{first needs} {divide quoted})
array=$(submit -J "bigfit-part[1-{parts}]"{part needs} -w "done($first)" {env quoted})
submit -J bigfit-merge{merge needs} -w "done($array)" {merge quoted}
`,
	"mpirun": `#!/bin/sh
# Process r of R makes the parts r, r + R, …; RANKS sets their number, else mpirun does, by its slots.{plan}
# Variables of Slurm, which are the same for all processes of an mpirun within its jobs, are taken away.
set -e
{divide}
mpirun ${RANKS:+-n $RANKS} env -u SLURM_ARRAY_TASK_ID -u SLURM_PROCID {env}
{merge}
`,
	"parallel": `#!/bin/sh
# GNU parallel; JOBS sets how many parts are made at a time. The command of a part is not its
# argument, as it would replace {} and the like in names of files.{plan}
set -e
{divide}
part_command={part quoted}
PARALLEL_SHELL=/bin/sh
export part_command PARALLEL_SHELL
seq 0 {last} | parallel --halt now,fail=1 -j ${JOBS:-1} 'eval "$part_command {}"'
{merge}
`,
}

// A step is a job: its command line, and what it takes of memory and time; zero where that is not known.
type step struct {
	line    string
	bytes   int64
	seconds float64
}

// steps are the jobs of a script. The line of a part lacks its number.
type steps struct {
	parts              int
	first, part, merge step
}

// Jobs ask for more than the plan says, which is of this machine: memory with room for the pages of
// mapped files that a control group counts, and three times the time, as nodes and their disks may be slower.
const (
	memoryRoom   = 1.25
	timeRoom     = 3
	leastMinutes = 10
)

// megabytes is the memory that the job asks for.
func (j *step) megabytes() int64 { return int64(math.Ceil(memoryRoom * float64(j.bytes) / 1e6)) }

// minutes is the time that the job asks for.
func (j *step) minutes() int { return max(leastMinutes, int(math.Ceil(timeRoom*j.seconds/60))) }

// needs returns the options of a kind of script by which a job asks for memory, time and cores.
func (j *step) needs(kind string, cores int) string {
	if j.bytes == 0 {
		return ""
	}
	memory, minutes := j.megabytes(), j.minutes()
	switch kind {
	case "slurm":
		return fmt.Sprintf(" --mem=%dM --time=%d --cpus-per-task=%d", memory, minutes, cores)
	case "pbs":
		return fmt.Sprintf(" -l select=1:ncpus=%d:mem=%dmb -l walltime=%02d:%02d:00", cores, memory, minutes/60, minutes%60)
	case "lsf":
		return fmt.Sprintf(` -n %d -R "span[hosts=1]" -M %dMB -W %d`, cores, memory, minutes)
	}
	return ""
}

// plan is a comment on what the jobs take.
func (j *steps) plan() string {
	if j.part.bytes == 0 {
		return "\n# How much memory and time they take says --dry-run where the points are."
	}
	return fmt.Sprintf("\n# A part takes about %v and %v here, the merge %v and %v.", machine.Size(j.part.bytes),
		choice.Duration(j.part.seconds), machine.Size(j.merge.bytes), choice.Duration(j.merge.seconds))
}

// fill returns a job script. A command line with a control character is an error: a line break would end a
// comment, and terminals and editors change others.
func fill(kind string, j *steps) (string, error) {
	for _, line := range []string{j.first.line, j.part.line, j.merge.line} {
		if err := writable(line); err != nil {
			return "", err
		}
	}
	// One pass fills all holes, so braces within a command line are never taken for a hole.
	env := j.part.line + " env"
	cores := runtime.GOMAXPROCS(0)
	return strings.NewReplacer(
		"{divide quoted}", quote(j.first.line), "{env quoted}", quote(env), "{merge quoted}", quote(j.merge.line),
		"{divide}", j.first.line, "{env}", env, "{merge}", j.merge.line, "{part quoted}", quote(j.part.line),
		"{first needs}", j.first.needs(kind, cores), "{part needs}", j.part.needs(kind, cores),
		"{merge needs}", j.merge.needs(kind, cores), "{plan}", j.plan(), "{missing}", j.part.line+" missing",
		"{last}", fmt.Sprint(j.parts-1), "{parts}", fmt.Sprint(j.parts),
	).Replace(scripts[kind]), nil
}

// writable returns an error if a command line of a script has a control character or is not UTF-8.
func writable(line string) error {
	at := strings.IndexFunc(line, unicode.IsControl)
	if at < 0 && utf8.ValidString(line) {
		return nil
	}
	what := "bytes that are no UTF-8"
	if at >= 0 {
		what = fmt.Sprintf("the control character %q", line[at:at+1])
	}
	return shell.Usagef("a name on the command line of the jobs has %s, which a script cannot hold safely: %q; "+
		"rename the file or folder", what, line)
}

// printScript prints a job script as a result, to the letter.
func printScript(a *shell.App, text string) error {
	return a.PrintExact(struct {
		Script string `json:"script"`
	}{text}, text)
}

// script prints a job script.
func (c *command) script(run *parts.Run, args []string) error {
	work, err := filepath.Abs(c.o.Work)
	if err != nil {
		return err
	}
	out, err := filepath.Abs(c.out)
	if err != nil {
		return err
	}
	if strings.HasSuffix(c.out, "/") {
		out += "/"
	}
	// The folder knows the points and settings after the first step, so the lines of the jobs are
	// short.
	known := "bigfit graph --work " + quote(work)
	p, err := run.Plan()
	if err != nil {
		return err
	}
	// The division reads all points, as the merge does.
	merging := p.Seconds - p.PartTime*float64(p.Missing)
	text, err := fill(c.o.Script, &steps{parts: c.settings.Parts,
		first: step{c.divideLine(args, known), p.Divide, merging},
		part:  step{known + " --part", p.Job, p.PartTime},
		merge: step{known + " --merge -o " + quote(out), p.Merge, merging}})
	if err != nil {
		return err
	}
	return printScript(c.App, text)
}

// divideLine returns the command that divides the points. known is the command for a folder that
// an earlier step began.
func (c *command) divideLine(args []string, known string) string {
	if c.o.Parts == 0 {
		return known + " --divide"
	}
	var b strings.Builder
	b.WriteString(known + " --divide")
	for _, name := range args {
		if full, err := filepath.Abs(name); err == nil {
			name = full
		}
		b.WriteString(" -X " + quote(name))
	}

	// All settings are written out: defaults may change between versions, and the script may be
	// run later.
	s := &c.settings
	fmt.Fprintf(&b, " --parts %d --overlap %d --neighbors %d --distance %v --method %v --symmetry %v "+
		"--weights %v --seed %d",
		s.Parts, s.Overlap, s.Graph.K, s.Metric, s.Method, s.Graph.Symmetry, s.Graph.Weights, s.Seed)
	if s.Graph.T > 0 {
		fmt.Fprintf(&b, " --t %v", s.Graph.T)
	}
	return b.String()
}

// quote returns a word as shells read it.
func quote(word string) string {
	const plain = "/._-+=:,@%"
	if word != "" && strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz0123456789"+plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
