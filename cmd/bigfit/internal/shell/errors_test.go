package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/bigfit/bigfit/models"
)

// What is found while a model is written may still be a fault of the data.
func TestExitCodeOfWriting(t *testing.T) {
	for want, err := range map[int]error{
		ExitInput:   Output(fmt.Errorf("m.npz: %w", models.ErrNotFinite)),
		ExitFailure: Output(fmt.Errorf("m.npz: %w", errors.Join(fs.ErrPermission))),
	} {
		if got := exitCode(err); got != want {
			t.Errorf("%v: exit code %d, not %d", err, got, want)
		}
	}
}
