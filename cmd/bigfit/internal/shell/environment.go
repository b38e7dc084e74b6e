package shell

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/supervise"
	"github.com/bigfit/bigfit/internal/suggest"
)

// variablePrefix begins the names of all environment variables of bigfit.
const variablePrefix = "BIGFIT_"

// otherVariables are read by the program, its tests or its Python package, whatever flags there are.
var otherVariables = []string{"BIGFIT_BIN", "BIGFIT_DATA", "BIGFIT_SIMD", "BIGFIT_HELP", "BIGFIT_VERSION",
	"BIGFIT_PYTHON", supervise.Variable, supervise.ParentVariable}

// testVariables begin the names of variables of the tests that run the program.
var testVariables = []string{"BIGFIT_SOAK", "BIGFIT_ATTACK_", "BIGFIT_TEST_"}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// checkEnvironment returns an error if there is a variable that begins with BIGFIT_ and
// belongs to no flag of any command. An empty variable is none.
func checkEnvironment(root *cobra.Command) error {
	// A variable may belong to a flag of any command: a script may export it for several.
	known := slices.Clone(otherVariables)
	add := func(f *pflag.Flag) {
		if v := variable(f.Name); !slices.Contains(known, v) {
			known = append(known, v)
		}
	}
	for _, c := range append(root.Commands(), root) {
		c.Flags().VisitAll(add)
		c.PersistentFlags().VisitAll(add)
	}

	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(name, variablePrefix) || slices.Contains(known, name) ||
			slices.ContainsFunc(testVariables, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		// Suggestions compare names without the prefix, which would make all of them look near.
		for i := range known {
			known[i] = strings.TrimPrefix(known[i], variablePrefix)
		}
		return fmt.Errorf("environment variable %s belongs to no flag%s", name,
			suggest.Prefixed(variablePrefix, strings.TrimPrefix(name, variablePrefix), known))
	}

	return nil
}
