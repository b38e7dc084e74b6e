package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

func numError() error {
	_, err := strconv.Atoi("x")
	return err
}

// Errors that are known to be of the input are 2, and others that end a run are 1.
func TestExitCode(t *testing.T) {
	t.Parallel()
	wrong := errors.New("it is wrong")
	unknown := net.ErrClosed // of a type that nobody has thought of
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"a fault of the data found when the model is written", Output(fmt.Errorf("m.npz: %w", models.ErrNotFinite)), ExitInput},
		{"a result that cannot be written", Output(fmt.Errorf("m.npz: %w", errors.Join(fs.ErrPermission))), ExitFailure},
		{"a line that cannot be read", fmt.Errorf("X.csv: line 3: %w", wrong), ExitInput},
		{"no such file", &fs.PathError{Op: "open", Path: "X.npy", Err: syscall.ENOENT}, ExitInput},
		{"a disk that cannot be read", fmt.Errorf("X.npy: %w", &fs.PathError{Op: "read", Path: "X.npy", Err: syscall.EIO}), ExitFailure},
		{"too many open files", &fs.PathError{Op: "open", Path: "X.npy", Err: syscall.EMFILE}, ExitFailure},
		{"unknown", unknown, ExitFailure},
		{"unknown within words", fmt.Errorf("fit: %w", unknown), ExitFailure},
		{"unknown beside known", errors.Join(wrong, unknown), ExitFailure},
		{"known beside known", errors.Join(wrong, Usagef("--labels is %d", -1)), ExitInput},
		{"a number that cannot be read", fmt.Errorf("line 3: %w", numError()), ExitInput},
		{"a program that is not there", exec.Command("/nowhere/mpirun").Run(), ExitInput},
		{"a program that failed", fmt.Errorf("mpirun: %w", &exec.ExitError{}), ExitFailure},
		{"a time that ran out", context.DeadlineExceeded, ExitFailure},
		{"the command line in a fit", Usagef("--labels is %d", -1), ExitInput},
		{"a parameter in a fit", fmt.Errorf("lgc: %w", &models.ParamError{Name: "alpha", Value: "2", Must: "below 1"}), ExitInput},
		{"points in a fit", fmt.Errorf("lgc: %w", models.ErrNoPoints), ExitInput},
		{"memory in a fit", memoryError{wrong}, ExitInput},
		{"memory of a pipeline", &pipeline.MemoryError{Stage: "fit"}, ExitInput},
		{"memory of a file", &npy.LimitError{What: "X.npy"}, ExitInput},
		{"not converged", fmt.Errorf("eigenpairs: %w", lanczos.ErrNotConverged), ExitNotConverged},
		{"an interrupt", fmt.Errorf("fit: %w", context.Canceled), ExitInterrupted},
		{"a panic", &panicError{value: "index out of range"}, ExitFailure},
		{"eigenvalues that LAPACK's iteration does not find", fmt.Errorf("lanczos: the projected 3×3 problem: %w", dense.ErrNoConvergence), ExitFailure},
		{"files that differ", ErrDiffer, ExitFailure},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(c.err); got != c.want {
				t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
			}
		})
	}
}
