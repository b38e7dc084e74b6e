package inparts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/internal/shell"
)

// scripts by kind, with words in braces for what differs.
var scripts = map[string]string{
	"slurm": `#!/bin/sh
# Submits three jobs: the division, an array of the parts, and the graph. Add what your
# cluster asks for (--account, --partition, --time) to each; --dry-run says how much --mem.
set -e
first=$(sbatch --parsable --job-name=bigfit-divide --wrap {divide quoted})
array=$(sbatch --parsable --job-name=bigfit-part --dependency=afterok:$first --array=0-{last} --wrap {env quoted})
sbatch --parsable --job-name=bigfit-merge --dependency=afterok:$array --wrap {merge quoted}
`,
	"mpirun": `#!/bin/sh
# Process r of R makes the parts r, r + R, …; RANKS sets their number. Variables of Slurm, which
# are the same for all processes of an mpirun within its jobs, are taken away.
set -e
{divide}
mpirun -n ${RANKS:-{ranks}} env -u SLURM_ARRAY_TASK_ID -u SLURM_PROCID {env}
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

// fill returns a job script of the lines "first", "part", which lacks the number, and "merge".
func fill(kind string, parts int, lines map[string]string) (string, error) {
	text, ok := scripts[kind]
	if !ok {
		return "", shell.Usagef("--print-script is %q; it must be %s", kind, strings.Join(slices.Sorted(maps.Keys(scripts)), ", "))
	}
	first, part, merge := lines["first"], lines["part"], lines["merge"]
	env := part + " env"
	return strings.NewReplacer(
		"{divide quoted}", quote(first), "{env quoted}", quote(env), "{merge quoted}", quote(merge),
		"{divide}", first, "{env}", env, "{merge}", merge, "{part}", quote(part),
		"{last}", fmt.Sprint(parts-1), "{ranks}", fmt.Sprint(min(parts, 8)),
	).Replace(text), nil
}

// quote returns a word as shells read it.
func quote(word string) string {
	const plain = "/._-+=:,@%"
	if word != "" && strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz0123456789"+plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
