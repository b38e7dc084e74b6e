package dense

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// countdown is a context that is cancelled when it has been asked so many times.
type countdown struct {
	context.Context
	left, after atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	c.after.Add(1)
	return context.Canceled
}

// A factorization asks its context often, and when that is cancelled it does little
// more, returns the error and does not fall over what it left unfinished.
func TestCancelled(t *testing.T) {
	n, parts := 400, int64(16)
	if testing.Short() { // under the race detector and emulators
		n, parts = 150, 6
	}
	rng := rand.New(rand.NewPCG(1, 2))
	general := mat.NewDense(n, n, nil)
	for i := range general.RawMatrix().Data {
		general.RawMatrix().Data[i] = rng.NormFloat64()
	}
	positive := mat.NewDense(n, n, nil)
	Syrk(NoTrans, 1, general, 0, positive)
	for name, run := range map[string]func(ctx context.Context, a *mat.Dense) error{
		"EigenSym": func(ctx context.Context, a *mat.Dense) error { _, _, err := EigenSym(ctx, a); return err },
		"Cholesky": Cholesky,
		"FactorLU": func(ctx context.Context, a *mat.Dense) error { _, err := FactorLU(ctx, a); return err },
	} {
		const plenty = 1 << 40
		whole := &countdown{Context: t.Context()}
		whole.left.Store(plenty)
		if err := run(whole, mat.DenseCopyOf(positive)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		asked := plenty - whole.left.Load()
		if asked < int64(n)/20 {
			t.Errorf("%s of order %d asks %d times", name, n, asked)
		}
		for part := int64(0); part < parts; part++ {
			c := &countdown{Context: t.Context()}
			c.left.Store(asked * part / parts)
			if err := run(c, mat.DenseCopyOf(positive)); !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, cancelled after %d of %d questions: %v", name, asked*part/parts, asked, err)
			}
		}
	}
}
