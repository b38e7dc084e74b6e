package pool_test

import (
	"errors"
	"math"
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/pool"
)

// Members that say the same everywhere but at some points disagree there alone, and a lone member not at all.
func TestDisagreement(t *testing.T) {
	const n = 60
	in := &models.Input{Graph: path(t, n), Targets: classes(t, n, alternating)}
	// No label tells the members apart, so that both have a weight.
	apart := func(i int) bool { return i >= 40 && i%3 != 0 }
	other := func(i int) []float64 {
		s := right(i)
		if apart(i) {
			s[0], s[1] = s[1], s[0]
		}
		return s
	}
	m := fitted(t, in, member("a", right), member("b", other))
	d, err := m.Disagreement(t.Context())
	if errors.Is(err, pool.ErrNoCommittee) {
		t.Fatalf("one of two members has all of the weight: %+v", m.Choice)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range d {
		if math.IsNaN(v) || v > 1 || !apart(i) && v > 1e-6 || apart(i) && v < 0.05 {
			t.Errorf("the members disagree by %v about point %d", v, i)
		}
	}

	if _, err := fitted(t, in, member("a", right)).Disagreement(t.Context()); !errors.Is(err, pool.ErrNoCommittee) {
		t.Errorf("error %v", err)
	}
}
