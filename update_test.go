package bigfit_test

import (
	"testing"

	"github.com/bigfit/bigfit"
)

// The loop of a day: few new points join a default model, then labels of all.
func TestUpdate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "lgc", "harmonic", "eigenmap"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, x, group := fit(t, 300, &bigfit.Options{Model: name})
			before, err := m.Predict(t.Context(), bigfit.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			more, moreGroup := blobs(12, 2)
			grown, err := m.Update(t.Context(), bigfit.Rows(more), bigfit.Labels{})
			if err != nil {
				t.Fatal(err)
			}

			// All labels, the old points first, one of them of a new class.
			labels := append(some(group, 60), moreGroup...)
			labels[300] = "elm"
			labels[303] = "elm"
			labeled, err := grown.Update(t.Context(), bigfit.Points{}, bigfit.Names(labels))
			if err != nil {
				t.Fatal(err)
			}
			if got := labeled.Classes(); len(got) != 4 || got[3] != "elm" {
				t.Errorf("classes %v", got)
			}

			again, err := m.Predict(t.Context(), bigfit.Rows(x))
			if err != nil || answers(again) != answers(before) {
				t.Errorf("the model that was updated answers otherwise than before: %v", err)
			}
		})
	}
}
