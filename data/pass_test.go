package data

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestEach(t *testing.T) {
	x := NewDense[float32](10, 3)
	for _, row := range []struct {
		name string
		step int
		want [][2]int
	}{
		{"even", 5, [][2]int{{0, 5}, {5, 10}}},
		{"rest", 4, [][2]int{{0, 4}, {4, 8}, {8, 10}}},
		{"one range", 100, [][2]int{{0, 10}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got [][2]int
			err := Each(x, row.step, func(lo, hi int) error {
				got = append(got, [2]int{lo, hi})
				return nil
			})
			if err != nil || !slices.Equal(got, row.want) {
				t.Errorf("%v (%v), want %v", got, err, row.want)
			}

			var mutex sync.Mutex
			got = nil
			EachAtOnce(x, row.step, func(lo, hi int) {
				mutex.Lock()
				defer mutex.Unlock()
				got = append(got, [2]int{lo, hi})
			})
			slices.SortFunc(got, func(a, b [2]int) int { return a[0] - b[0] })
			if !slices.Equal(got, row.want) {
				t.Errorf("at once: %v, want %v", got, row.want)
			}
		})
	}

	t.Run("error", func(t *testing.T) {
		calls := 0
		fault := errors.New("fault")
		err := Each(x, 4, func(lo, _ int) error {
			if calls++; lo == 4 {
				return fault
			}
			return nil
		})
		if !errors.Is(err, fault) || calls != 2 {
			t.Errorf("%v after %d calls", err, calls)
		}
	})

	t.Run("no points", func(t *testing.T) {
		err := Each(NewDense[float64](0, 3), 4, func(int, int) error { return errors.New("visited") })
		if err != nil {
			t.Error(err)
		}
	})
}
