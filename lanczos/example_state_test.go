//go:build !race

// The race detector sees the goroutines of this run in TestSameBits, and it takes a minute there.

package lanczos_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/lanczos"
)

// An error from the hook stops the run.
func ExampleState() {
	enough := errors.New("enough")
	_, err := lanczos.Solve(context.Background(), chain(5000), &lanczos.Settings{K: 5, OnRestart: func(s lanczos.State) error {
		if s.Products > 0 {
			return enough
		}
		return nil
	}})
	fmt.Println(err)
	// Output: enough
}
