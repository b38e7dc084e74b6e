package queue_test

import (
	"path/filepath"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/store"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

func sim(t *testing.T, n int, seed uint64, labels int) {
	x, y := synthetic.Digits(n, seed)
	p := &pipeline.Pipeline{}
	s, err := pipeline.AutoGraph(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Graph(t.Context(), x, s)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(filepath.Join(t.TempDir(), "labels.csv"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := queue.New(labeling.Planner{Pipeline: p}, &g.Graph, nil, st, queue.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	go q.Learn(t.Context())
	for k := 1; k <= labels; k++ {
		if err := q.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := q.Ask("t", false, false)
		if _, err := q.Give([]queue.Answer{{a.Points[0], y.Name(y.Index[a.Points[0]])}}, 1, a.Kind); err != nil {
			t.Fatal(err)
		}
		if k%20 == 0 {
			_ = q.Settle(t.Context())
			wrong := 0
			for i := range n {
				if q.FactOf(int32(i)).Answer != y.Name(y.Index[i]) {
					wrong++
				}
			}
			st := q.State()
			t.Logf("%d: %d classes, page error %.1f %%: %s", st.Labeled, len(st.Classes), 100*float64(wrong)/float64(n), st.Words)
			if k%60 == 0 {
				tt, _ := models.ClassTargets(q.Labels())
				m, err := p.Fit(t.Context(), all.Learner("auto"), &models.Input{Points: x, Targets: tt}, nil)
				if err != nil {
					t.Fatal(err)
				}
				pr, _ := pipeline.Training(m, false, false)
				wrong := 0
				yy := q.Labels()
				for i := range n {
					if yy.Name(pr.Classes[i]) != y.Name(y.Index[i]) {
						wrong++
					}
				}
				t.Logf("auto %.1f %%", 100*float64(wrong)/float64(n))
			}
		}
	}
	_ = data.Unlabeled
}

func TestSim(t *testing.T) {
	for s := range uint64(3) {
		sim(t, 2000, s, 60)
	}

}
