package work

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
)

// scripts by kind, with words in braces for what differs.
var scripts = map[string]string{
	"slurm": `#!/bin/sh
# Submits three jobs: the first step, an array of the parts, and the merge. Add what your
# cluster asks for (--account, --partition, --time) to each; --dry-run says how much --mem.
# If a job fails, the later ones are cancelled. To repeat only the parts that are missing:
#   PARTS=$({missing}) sh this-script
set -e
first=$(sbatch --parsable --job-name=bigfit-first --wrap {divide quoted})
array=$(sbatch --parsable --job-name=bigfit-part --dependency=afterok:$first --kill-on-invalid-dep=yes --array=${PARTS:-0-{last}} --wrap {env quoted})
sbatch --parsable --job-name=bigfit-merge --dependency=afterok:$array --kill-on-invalid-dep=yes --wrap {merge quoted}
`,
	"mpirun": `#!/bin/sh
# Process r of R makes the parts r, r + R, …; RANKS sets their number, else mpirun does, by its slots.
# Variables of Slurm, which are the same for all processes of an mpirun within its jobs, are taken away.
set -e
{divide}
mpirun ${RANKS:+-n $RANKS} env -u SLURM_ARRAY_TASK_ID -u SLURM_PROCID {env}
{merge}
`,
	"parallel": `#!/bin/sh
# GNU parallel; JOBS sets how many parts are made at a time. The command of a part is not its
# argument, as it would replace {} and the like in names of files.
set -e
{divide}
part_command={part quoted}
PARALLEL_SHELL=/bin/sh
export part_command PARALLEL_SHELL
seq 0 {last} | parallel --halt now,fail=1 -j ${JOBS:-1} 'eval "$part_command {}"'
{merge}
`,
}

// fill returns a job script of three command lines: the first step, a part, which lacks its number,
// and the merge. A command line with a control character is an error: a line break would end a
// comment, and terminals and editors change others.
func fill(kind string, parts int, first, part, merge string) (string, error) {
	text, ok := scripts[kind]
	if !ok {
		return "", shell.Usagef("--print-script is %q; it must be %s", kind,
			strings.Join(slices.Sorted(maps.Keys(scripts)), ", "))
	}
	for _, line := range []string{first, part, merge} {
		if err := writable(line); err != nil {
			return "", err
		}
	}
	// One pass fills all holes, so braces within a command line are never taken for a hole.
	env := part + " env"
	return strings.NewReplacer(
		"{divide quoted}", quote(first), "{env quoted}", quote(env), "{merge quoted}", quote(merge),
		"{divide}", first, "{env}", env, "{merge}", merge, "{part quoted}", quote(part), "{missing}",
		part+" missing",
		"{last}", fmt.Sprint(parts-1),
	).Replace(text), nil
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
func (c *command) script(args []string) error {
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
	text, err := fill(c.o.Script, c.settings.Parts, c.divideLine(args, known), known+" --part",
		known+" --merge -o "+quote(out))
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
