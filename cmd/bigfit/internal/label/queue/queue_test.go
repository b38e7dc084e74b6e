package queue_test

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/store"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// graphOf makes the graph of digits.
func graphOf(t *testing.T, n int) (*models.Graph, *data.Labels) {
	t.Helper()
	x, y := synthetic.Digits(n, 0)
	made, err := pipeline.AutoGraph(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := (&pipeline.Pipeline{}).Graph(t.Context(), x, made)
	if err != nil {
		t.Fatal(err)
	}
	return &g.Graph, y
}

// begin makes a queue on a file, and lets it learn until the test ends.
func begin(t *testing.T, g *models.Graph, path string, s queue.Settings) *queue.Queue {
	t.Helper()
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	q, err := queue.New(labeling.Planner{Pipeline: &pipeline.Pipeline{}}, g, nil, st, s)
	if err != nil {
		t.Fatal(err)
	}
	var learner sync.WaitGroup
	learner.Go(func() { q.Learn(t.Context()) })
	t.Cleanup(learner.Wait)
	return q
}

// settle waits for the model.
func settle(t *testing.T, q *queue.Queue) {
	t.Helper()
	if err := q.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// give labels points alike.
func give(t *testing.T, q *queue.Queue, label, shown string, points ...int32) int {
	t.Helper()
	var answers []queue.Answer
	for _, i := range points {
		answers = append(answers, queue.Answer{Point: i, Label: label})
	}
	action, err := q.Give(answers, 1, shown)
	if err != nil {
		t.Fatal(err)
	}
	return action
}

// The interval of the estimate holds the error of the answers, whose labels the test knows.
func TestEstimate(t *testing.T) {
	g, y := graphOf(t, 1000)
	q := begin(t, g, filepath.Join(t.TempDir(), "labels.csv"), queue.Settings{})
	held, looked := 0, 0
	for k := 1; k <= 150; k++ {
		settle(t, q)
		a := q.Ask("t", false, false)
		give(t, q, y.Name(y.Index[a.Points[0]]), a.Kind, a.Points[0])
		if k < 60 || k%15 > 0 {
			continue
		}
		settle(t, q)
		known := q.Labels()
		wrong, free := 0, 0
		for i := range y.Index {
			if known.Index[i] == data.Unlabeled {
				free++
				if q.FactOf(int32(i)).Answer != y.Name(y.Index[i]) {
					wrong++
				}
			}
		}
		s := q.State()
		e := s.Curve[len(s.Curve)-1]
		share := float64(wrong) / float64(free)
		t.Logf("%d labels: %.1f %% wrong, estimated %s", s.Labeled, 100*share, s.Words)
		looked++
		if e.Low <= share && share <= e.High {
			held++
		}
	}
	if looked < 7 || held < looked-1 {
		t.Errorf("%d of %d intervals hold the error", held, looked)
	}
}

// Without labels points are spread, near ones together in a group; passed points do not come back; undoing takes
// back one action, once.
func TestAskAndUndo(t *testing.T) {
	g, y := graphOf(t, 300)
	path := filepath.Join(t.TempDir(), "labels.csv")
	q := begin(t, g, path, queue.Settings{})
	settle(t, q)
	classes := map[int32]bool{}
	var points []int32
	for range 10 {
		a := q.Ask(strconv.Itoa(len(points)), false, false)
		points = append(points, a.Points[0])
		classes[y.Index[a.Points[0]]] = true
	}
	if len(classes) < 5 {
		t.Errorf("the first 10 points are of %d classes", len(classes))
	}
	group := q.Ask("g", true, true)
	same := 0
	for _, i := range group.Points {
		if y.Index[i] == y.Index[group.Points[0]] {
			same++
		}
	}
	if group.Kind != "grid" || len(group.Points) != 24 || same < 15 {
		t.Errorf("a %s of %d points, %d like the first", group.Kind, len(group.Points), same)
	}

	action := give(t, q, "x", "grid", group.Points...)
	if s := q.State(); s.Labeled != 24 {
		t.Errorf("%d labels", s.Labeled)
	}
	for range 2 { // the second changes nothing
		back, err := q.Undo(action)
		if err != nil || len(back) != 24 {
			t.Fatalf("%d points, %v", len(back), err)
		}
	}
	if s := q.State(); s.Labeled != 0 {
		t.Errorf("%d labels after undoing", s.Labeled)
	}
	if _, err := q.Undo(0); err == nil {
		t.Error("nothing is left, and was undone")
	}
	give(t, q, "", "skip", points[0])
	give(t, q, "a", "one", points[1])
	give(t, q, "b", "back", points[1])
	if _, err := q.Undo(0); err != nil {
		t.Fatal(err)
	}
	if got := q.FactOf(points[1]).Mine; got != "a" {
		t.Errorf("after undoing the second label it is %q", got)
	}
	settle(t, q)
	for range 290 {
		a := q.Ask("t", false, true)
		if a.Kind == "done" {
			break
		}
		if a.Points[0] == points[0] {
			t.Error("a point that was skipped came back")
		}
		give(t, q, "x", a.Kind, a.Points[0])
	}
	if a := q.Ask("t", false, true); a.Kind != "done" && a.Kind != "again" {
		t.Errorf("in the end %q is asked", a.Kind)
	}

	// The same file goes on where it ended.
	again := begin(t, g, path, queue.Settings{})
	if a, b := q.State(), again.State(); a.Labeled != b.Labeled || len(a.Classes) != len(b.Classes) {
		t.Errorf("%d labels of %d classes, and from the file %d of %d", a.Labeled, len(a.Classes), b.Labeled, len(b.Classes))
	}
}

// Words that readers of labels take for no label are no classes.
func TestCheckClass(t *testing.T) {
	for _, name := range []string{"", "nan", "NaN", "none", "N/A", "?", "-1", "null", "a\tb", " a", strings.Repeat("x", 201)} {
		if queue.CheckClass(name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
	for _, name := range []string{"0", "refund", "Ärger <b>", "no", "a,b"} {
		if err := queue.CheckClass(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Two annotators on one file: each sees the labels of the other, a share of the points is given to both, a
// disagreement comes back, and what most say counts.
func TestTwoAnnotators(t *testing.T) {
	g, y := graphOf(t, 300)
	path := filepath.Join(t.TempDir(), "labels.csv")
	ann := begin(t, g, path, queue.Settings{Annotator: "ann", Twice: 0.3})
	bob := begin(t, g, path, queue.Settings{Annotator: "bob", Twice: 0.3})
	name := func(i int32) string { return y.Name(y.Index[i]) }
	for range 60 {
		a := ann.Ask("t", false, false)
		give(t, ann, name(a.Points[0]), a.Kind, a.Points[0])
	}
	if err := bob.Refresh(); err != nil {
		t.Fatal(err)
	}
	if s := bob.State(); s.Labeled != 60 {
		t.Fatalf("bob sees %d labels", s.Labeled)
	}
	twice := 0
	wrong := int32(-1)
	for range 60 {
		a := bob.Ask("t", false, false)
		i := a.Points[0]
		label := name(i)
		if a.Kind == "twice" {
			if twice++; wrong < 0 {
				wrong = i
			}
		} else if ann.FactOf(i).Mine != "" && a.Kind != "again" {
			t.Errorf("point %d of ann is asked as %s", i, a.Kind)
		}
		if i == wrong { // also when it comes back to him
			label = "other"
		}
		give(t, bob, label, a.Kind, i)
	}
	if twice < 5 || twice > 12 {
		t.Errorf("%d points were given to both", twice)
	}
	if err := ann.Refresh(); err != nil {
		t.Fatal(err)
	}
	again := false
	for range 40 {
		a := ann.Ask("t", false, false)
		again = again || a.Kind == "again" && a.Points[0] == wrong
		give(t, ann, name(a.Points[0]), a.Kind, a.Points[0])
	}
	if !again {
		t.Error("the disagreement did not come back")
	}
	agreement := ann.Agreement()
	if agreement.Pairs < twice || !(agreement.Alpha > 0.5 && agreement.Alpha < 1) || len(agreement.People) != 2 {
		t.Errorf("%+v", agreement)
	}
	for _, p := range agreement.People {
		if p.Shared != agreement.Pairs || p.Differ != 1 || len(p.Confusions) != 1 {
			t.Errorf("%+v", p)
		}
	}
}

// α of the example in Krippendorff's Computing Krippendorff's Alpha-Reliability (2011), section C: 0.743 for nominal
// data of four observers with missing values.
func TestKrippendorff(t *testing.T) {
	observers := []string{"1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 ."}
	g, _ := graphOf(t, 60)
	path := filepath.Join(t.TempDir(), "labels.csv")
	var q *queue.Queue
	for k, row := range observers {
		q = begin(t, g, path, queue.Settings{Annotator: strconv.Itoa(k)})
		for i, label := range strings.Fields(row) {
			if label != "." {
				give(t, q, label, "one", int32(i))
			}
		}
	}
	if a := q.Agreement(); math.Abs(a.Alpha-0.743) > 0.0005 || a.Pairs != 11 {
		t.Errorf("α = %.4f of %d points", a.Alpha, a.Pairs)
	}
}
