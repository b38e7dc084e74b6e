package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// PythonVariable names the interpreter of the workers.
const PythonVariable = "BIGFIT_PYTHON"

// A MissingError says that an engine is not there, and what installs it.
type MissingError struct {
	Engine Kind
	What   string // the thing that was not found
	Where  string // interpreter or path that was searched
	Remedy string // "" for the packages
}

func (e *MissingError) Error() string {
	if e.Remedy != "" {
		return fmt.Sprintf("engine %s: %s was not found in %s; %s", e.Engine, e.What, e.Where, e.Remedy)
	}
	packages := "python3-petsc4py openmpi-bin"
	if e.Engine == SLEPc {
		packages = "python3-slepc4py python3-petsc4py openmpi-bin"
	}
	wide := strings.NewReplacer("slepc4py", "slepc4py-64-real", "petsc4py",
		"petsc4py-64-real").Replace(packages)
	return fmt.Sprintf("engine %s: %s was not found in %s; on Debian: apt install %s (%s where a "+
		"rank has 2³¹ entries or more), elsewhere install them for the Python that %s names",
		e.Engine, e.What, e.Where, packages, strings.TrimSuffix(wide, " openmpi-bin"), PythonVariable)
}

// modules returns the modules that the worker of an engine imports.
func (k Kind) modules() []string {
	if k == SLEPc {
		return []string{"numpy", "petsc4py", "slepc4py"}
	}
	return []string{"numpy", "petsc4py"}
}

// python is an interpreter with the modules of an engine.
type python struct {
	path string
	env  []string // environment beside the one of this process
}

// findPython returns the interpreter in BIGFIT_PYTHON, else /usr/bin/python3, else python3 on the
// path. wide asks for indices of 64 bits. Debian keeps builds of both widths in folders, and
// PETSC_DIR and SLEPC_DIR choose one; findPython chooses it where neither is set.
func findPython(k Kind, wide bool) (*python, error) {
	path := os.Getenv(PythonVariable)
	if path == "" {
		path = "/usr/bin/python3"
		if _, err := os.Stat(path); err != nil {
			path = "python3"
		}
	}

	found, err := exec.LookPath(path)
	if err != nil {
		return nil, &MissingError{Engine: k, What: "the interpreter " + path, Where: "the path"}
	}
	p := &python{path: found}

	// A build with wide indices serves where the narrow one is not installed.
	if os.Getenv("PETSC_DIR") == "" && os.Getenv("SLEPC_DIR") == "" {
		for _, w := range slices.Compact([]bool{wide, true}) {
			if env := DebianBuild(w); env != nil {
				p.env = env
				break
			}
		}
	}

	return p, nil
}

// DebianBuild returns the environment in which Python imports Debian's build of PETSc and SLEPc
// with indices of 64 bits (wide) or of 32; nil where it is not installed.
func DebianBuild(wide bool) []string {
	var env []string
	for _, name := range []string{"petsc", "slepc"} {
		pattern := "/usr/lib/" + name + "dir/" + name + "[0-9].*/*-real"
		if wide {
			pattern = "/usr/lib/" + name + "dir/" + name + "64-*/*-real"
		}
		// The newest of several versions.
		dirs, _ := filepath.Glob(pattern)
		if len(dirs) == 0 {
			if name == "slepc" && env != nil {
				break // PETSc alone
			}
			return nil
		}
		slices.Sort(dirs)
		env = append(env, strings.ToUpper(name)+"_DIR="+dirs[len(dirs)-1])
	}

	return env
}

// check finds out why ranks could not tell what went wrong. It returns a *MissingError for the
// first module that cannot be found, or an error if the interpreter does not run. It imports no
// module, as that would start MPI.
func (p *python) check(ctx context.Context, k Kind) error {
	code := "import importlib.util as u, sys\nfor m in sys.argv[1:]:\n    if u.find_spec(m) is None: " +
		"sys.exit(m)\n"
	cmd := exec.CommandContext(ctx, p.path, append([]string{"-c", code}, k.modules()...)...)
	cmd.Env = append(os.Environ(), p.env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}

	text := strings.TrimSpace(string(out))
	if slices.Contains(k.modules(), text) {
		return &MissingError{Engine: k, What: "the Python module " + text, Where: p.path}
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || text == "" {
		return &RunError{k, fmt.Errorf("engine %s: cannot run %s: %w", k, p.path, err)}
	}
	return &RunError{k, fmt.Errorf("engine %s: %s ends with: %s", k, p.path, last(text))}
}

// needsWide reports whether a rank has more entries than 32 bits count, with a fifth to spare.
func needsWide(n, entries int64, ranks int) bool {
	return n > math.MaxInt32 || float64(entries+n)/float64(ranks)*1.2 > math.MaxInt32
}

// last returns the last line of a text.
func last(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
