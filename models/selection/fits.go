package selection

import (
	"strconv"

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
)

// Fit is the outcome of the fit of a setting on a split, as JSON keeps it.
type Fit struct {
	Setting int    `json:"setting"` // in the order of the grid
	Split   int    `json:"split"`
	Value   string `json:"value"` // of the criterion, which may be NaN
	// Fault is why the fit failed or, if Usable, why it ended before it converged; its answers
	// then count as they are.
	Fault  string `json:"fault,omitempty"`
	Usable bool   `json:"usable,omitempty"`
}

// fault is the error of a fit of an earlier run.
type fault struct {
	text   string
	usable bool
}

func (f *fault) Error() string { return f.text }

// Unwrap lets [models.Usable] tell whether the fit came with a model.
func (f *fault) Unwrap() error {
	if f.usable {
		return lanczos.ErrNotConverged
	}
	return nil
}

// fits returns the outcomes of all fits that are finished.
func (t *search) fits() (out []Fit) {
	for i := range t.scores {
		for f, err := range t.errs[i] {
			if !t.done[i][f] {
				continue
			}
			fit := Fit{Setting: i, Split: f, Value: strconv.FormatFloat(float64(t.scores[i].Folds[f]),
				'g', -1, 64)}
			if err != nil {
				fit.Fault = err.Error()
				fit.Usable = models.Usable(err)
			}
			out = append(out, fit)
		}
	}

	return out
}

// restore takes over the outcomes of an earlier run. It leaves out outcomes that cannot belong
// to this run.
func (t *search) restore(known []Fit) {
	for _, k := range known {
		v, err := strconv.ParseFloat(k.Value, 64)
		if err != nil || k.Setting < 0 || k.Setting >= len(t.scores) || k.Split < 0 ||
			k.Split >= len(t.grid.Splits) || t.done[k.Setting][k.Split] {
			continue
		}
		t.done[k.Setting][k.Split] = true
		t.scores[k.Setting].Folds[k.Split] = metrics.Number(v)
		t.scores[k.Setting].Done++
		if k.Fault != "" {
			t.errs[k.Setting][k.Split] = &fault{k.Fault, k.Usable}
		}
	}
}

// known reports whether all fits of the settings on split f are finished.
func (t *search) known(settings []int, f int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range settings {
		if !t.done[i][f] {
			return false
		}
	}
	return true
}
