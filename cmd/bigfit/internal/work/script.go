package work

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

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
# GNU parallel; JOBS sets how many parts are made at a time.
set -e
{divide}
seq 0 {last} | parallel --halt now,fail=1 -j ${JOBS:-1} {part}
{merge}
`,
}

// fill returns a job script of three command lines: the first step, a part, which lacks its number,
// and the merge.
func fill(kind string, parts int, first, part, merge string) (string, error) {
	text, ok := scripts[kind]
	if !ok {
		return "", shell.Usagef("--print-script is %q; it must be %s", kind,
			strings.Join(slices.Sorted(maps.Keys(scripts)), ", "))
	}
	// One pass fills all holes, so braces within a command line are never taken for a hole.
	env := part + " env"
	return strings.NewReplacer(
		"{divide quoted}", quote(first), "{env quoted}", quote(env), "{merge quoted}", quote(merge),
		"{divide}", first, "{env}", env, "{merge}", merge, "{part}", quote(part), "{missing}",
		part+" missing",
		"{last}", fmt.Sprint(parts-1),
	).Replace(text), nil
}

// printScript prints a job script as a result.
func printScript(a *shell.App, text string) error {
	return a.Print(struct {
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
