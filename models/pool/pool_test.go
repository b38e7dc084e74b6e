package pool_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/pool"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// sayer is a learner whose scores for point i are those of say, whatever it is fitted to.
type sayer struct {
	models.Learner
	name string
	say  func(i int) []float64
	cost float64 // operations
}

func (l sayer) Info() models.Info {
	return models.Info{Name: l.name, Help: "says", Learns: models.LearnsClasses | models.LearnsValues, Needs: models.NeedsGraph}
}
func (sayer) Params() []models.Param { return nil }
func (l sayer) Cost(*models.Input) (stage.Cost, error) {
	return stage.Cost{Bytes: 1, Operations: l.cost, Remedy: "none"}, nil
}
func (l sayer) Fit(_ context.Context, in *models.Input) (models.Model, error) {
	m := &said{name: l.name, targets: in.Targets}
	for i := range in.Len() {
		row := l.say(i)
		if m.scores == nil {
			m.scores = mat.NewDense(in.Len(), len(row), nil)
		}
		m.scores.SetRow(i, row)
	}
	return m, nil
}

// said is its model.
type said struct {
	models.Model
	name    string
	targets *models.Targets
	scores  *mat.Dense
}

func (m *said) Name() string { return m.name }
func (m *said) Dim() int     { return 0 }
func (m *said) Output() models.Output {
	_, c := m.scores.Dims()
	return models.OutputOf(m.targets.Classes, c)
}
func (m *said) Summary() models.Summary { return models.Summary{} }
func (m *said) Training(bool) *models.Prediction {
	p := &models.Prediction{Scores: m.scores}
	if m.targets.Classes != nil {
		p.Classes = models.Decide(m.scores)
	}
	return p
}

// path is a graph of n points in a line.
func path(t *testing.T, n int) *models.Graph {
	t.Helper()
	x := data.NewDense[float64](n, 1)
	for i := range n {
		x.Row(i)[0] = float64(i)
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 2})
	if err != nil {
		t.Fatal(err)
	}
	return models.NewGraph(w)
}

// classes labels every third of n points with two classes by turns; truth gives them.
func classes(t *testing.T, n int, truth func(i int) int64) *models.Targets {
	t.Helper()
	values, given := make([]int64, n), make([]bool, n)
	for i := range n {
		values[i], given[i] = truth(i), i%3 == 0
	}
	y, err := models.ClassTargets(data.NewLabels(values, given))
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// signed are scores of two classes.
func signed(v float64) []float64 { return []float64{-v, v} }

func alternating(i int) int64 { return int64(i / 3 % 2) }

// right answers with the class of point i.
func right(i int) []float64 { return signed(float64(2*alternating(i) - 1)) }

// wrongOften is wrong at every k-th label.
func wrongOften(k int) func(i int) []float64 {
	return func(i int) []float64 {
		v := right(i)[1]
		if i/3%k == 0 {
			v = -v
		}
		return signed(v)
	}
}

func fitted(t *testing.T, in *models.Input, members ...pool.Member) *pool.Model {
	t.Helper()
	m, err := pool.Learner{Name: "auto", Help: "chooses", Members: members}.Fit(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*pool.Model)
}

func member(name string, say func(i int) []float64) pool.Member {
	return pool.Member{Learner: sayer{name: name, say: say}, Settings: []models.Values{{}}}
}

// A member that is right takes all of the weight of one that guesses, and the errors are
// those of the definition.
func TestChooses(t *testing.T) {
	in := &models.Input{Graph: path(t, 240), Targets: classes(t, 240, alternating)}
	m := fitted(t, in, member("guesses", wrongOften(2)), member("right", right), member("often", wrongOften(4)))
	c := m.Choice
	if !c.Validated || c.Members[0].Name != "right" || c.Members[0].Weight != 1 || c.Error != 0 {
		t.Fatalf("the choice is %+v", c)
	}
	want := map[string]float64{"right": 0, "often": 0.25, "guesses": 0.5}
	for _, s := range c.Members {
		if !(math.Abs(float64(s.Error)-want[s.Name]) < 1e-12) {
			t.Errorf("%s has the error %v, not %v", s.Name, s.Error, want[s.Name])
		}
	}
	if got := m.Training(false).Classes; !slices.Equal(got, models.Decide(m.Training(true).Scores)) || got[3] != 1 || got[0] != 0 {
		t.Errorf("the classes are %v", got[:6])
	}
	for _, text := range []string{"right, estimated error 0.0 ± 1.2 %", "often 25.0"} {
		if !strings.Contains(c.Text(), text) {
			t.Errorf("%q does not say %q", c.Text(), text)
		}
	}
	if c.Warnings() != nil {
		t.Errorf("warnings %q", c.Warnings())
	}
}

// Members whose mistakes are elsewhere are right together: the mean of their probabilities
// decides better than each of them.
func TestCombines(t *testing.T) {
	in := &models.Input{Graph: path(t, 90), Targets: classes(t, 90, alternating)}
	unsure := func(k int) func(i int) []float64 {
		return func(i int) []float64 {
			v := 3 * right(i)[1]
			if i/3%3 == k {
				v = -right(i)[1]
			}
			return signed(v)
		}
	}
	m := fitted(t, in, member("a", unsure(0)), member("b", unsure(1)), member("c", unsure(2)))
	if m.Choice.Error != 0 {
		t.Errorf("the error of the mean is %v", m.Choice.Error)
	}
	for _, s := range m.Choice.Members {
		if !(math.Abs(float64(s.Error)-1./3) < 1e-12) || !(s.Weight > 0.3) {
			t.Errorf("%s has the error %v and the weight %v", s.Name, s.Error, s.Weight)
		}
	}
}

// A pool that does not beat the most frequent class says so.
func TestTrivial(t *testing.T) {
	in := &models.Input{Graph: path(t, 240), Targets: classes(t, 240, func(i int) int64 { return int64(min(1, i/3%4)) })}
	m := fitted(t, in, member("noise", func(i int) []float64 { return signed(math.Sin(float64(i * i))) }))
	if w := m.Summary().Warnings; len(w) != 1 || !strings.Contains(w[0], "no model beats the most frequent class in cross-validation") {
		t.Errorf("warnings %q", w)
	}
	if m.Choice.Trivial != 0.25 {
		t.Errorf("the trivial error is %v", m.Choice.Trivial)
	}
}

// With a label a class there is nothing to validate: the weights are those of the list.
func TestFewLabels(t *testing.T) {
	y, err := models.ClassTargets(data.NewLabels([]int64{0, 1, 0, 0, 0, 0}, []bool{true, true, false, false, false, false}))
	if err != nil {
		t.Fatal(err)
	}
	half := member("b", right)
	half.Prior = 3
	m := fitted(t, &models.Input{Graph: path(t, 6), Targets: y}, member("a", right), half)
	if c := m.Choice; c.Validated || c.Members[0].Name != "b" || c.Members[0].Weight != 0.75 || !strings.Contains(c.Text(), "too few labels") {
		t.Errorf("the choice is %+v", c)
	}
}

// Members that are told apart by other values than those for as many labels of each class are one, with the weights of
// both, where there are as many labels of each of three classes, or one of each of two.
func TestEven(t *testing.T) {
	for _, c := range []struct {
		classes []int64 // of the labels
		want    []float64
	}{
		{[]int64{0, 1}, []float64{0.75, 0.25}},
		{[]int64{0, 1, 1}, []float64{0.5, 0.25, 0.25}},
		{[]int64{0, 1, 2}, []float64{0.75, 0.25}},
		{[]int64{0, 1, 2, 1}, []float64{0.5, 0.25, 0.25}},
	} {
		classes := append(slices.Clone(c.classes), 0, 0, 0)
		known := slices.Repeat([]bool{true}, len(c.classes))
		y, err := models.ClassTargets(data.NewLabels(classes, append(known, false, false, false)))
		if err != nil {
			t.Fatal(err)
		}
		say := func(int) []float64 { return make([]float64, len(y.Classes)) }
		one, two := member("a", say), member("a", say)
		one.Settings = []models.Values{{"begin": "equal"}}
		one.Even = models.Values{"begin": "estimate"}
		two.Settings = []models.Values{{"begin": "estimate"}}
		two.Prior = 2
		m := fitted(t, &models.Input{Graph: path(t, len(classes)), Targets: y}, one, two, member("b", say))

		var got []float64
		for _, member := range m.Choice.Members {
			got = append(got, member.Weight)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("labels %v: weights %v, want %v: %+v", c.classes, got, c.want, m.Choice.Members)
		}
	}
}

// Of values the member with the smallest squared error is chosen, and compared with the
// mean.
func TestValues(t *testing.T) {
	n := 60
	y := mat.NewDense(n, 1, nil)
	for i := range n {
		y.Set(i, 0, math.NaN())
		if i%2 == 0 {
			y.Set(i, 0, float64(i%4))
		}
	}
	targets, err := models.ValueTargets(y)
	if err != nil {
		t.Fatal(err)
	}
	// Members say values less their mean, which is 1.
	off := func(by float64) func(i int) []float64 {
		return func(i int) []float64 { return []float64{float64(i%4) - 1 + by} }
	}
	in := &models.Input{Graph: path(t, n), Targets: targets}
	m := fitted(t, in, member("far", off(2)), member("near", off(0.5)))
	if c := m.Choice; c.Members[0].Name != "near" || c.Members[0].Weight != 1 || !(math.Abs(float64(c.Error)-0.5) < 1e-12) || !(math.Abs(float64(c.Trivial)-1) < 1e-12) {
		t.Errorf("the choice is %+v", c)
	}
	m = fitted(t, in, member("far", off(2)))
	if w := m.Summary().Warnings; len(w) != 1 || !strings.Contains(w[0], "the mean value") {
		t.Errorf("warnings %q", w)
	}
}

// Members that would take too long together are left out, the later ones first, but never
// all. Those for few labels are counted apart, without a first one.
func TestCostlyMembers(t *testing.T) {
	y := classes(t, 90, alternating)
	g := path(t, 90)
	for _, c := range []struct {
		costs []float64
		few   int // members for few labels, the first ones
		left  int
		ops   float64
	}{
		{[]float64{1e9, 2e9, 3e9}, 0, 0, 3.6e10},
		{[]float64{1e10, 1e11, 2e10}, 0, 1, 1.8e11},
		{[]float64{1e12, 1e9}, 0, 1, 6e12},
		{[]float64{1e12, 1e9, 1e11}, 1, 1, 6.006e12},
		{[]float64{1e12, 2e10, 3e10, 3e10}, 2, 1, 6.3e12},
	} {
		l := pool.Learner{Name: "pool"}
		for i, cost := range c.costs {
			l.Members = append(l.Members, pool.Member{Learner: sayer{name: string(rune('a' + i)), say: right, cost: cost}, Settings: []models.Values{{}}})
		}
		for i := range c.few {
			l.Members[i].FewPerClass = 90
		}
		in := &models.Input{Graph: g, Targets: y, Values: models.Values{}}
		cost, err := l.Cost(in)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		choice := m.(*pool.Model).Choice
		if choice.LeftOut != c.left || len(choice.Members) != len(c.costs)-c.left || math.Abs(cost.Operations-c.ops) > 1e6 || strings.Contains(choice.Text(), "left out") != (c.left > 0) {
			t.Errorf("%v: %d left out, %d members, %g operations, %q", c.costs, choice.LeftOut, len(choice.Members), cost.Operations, choice.Text())
		}
	}
}

// Parts on one graph write its points once, however these are held, and answer from the
// file as before.
func TestPointsOnce(t *testing.T) {
	dense, truth := synthetic.TwoMoons(60, 0.1, 1)
	file := filepath.Join(t.TempDir(), "X.npy")
	halves := make([]byte, 2*2*60) // from 1 to 2
	for i := range 2 * 60 {
		halves[2*i], halves[2*i+1] = byte(37*i), byte(0x3c|i%3)
	}
	if err := npy.WriteFile(file, []int{60, 2}, archive.Raw{DType: "float16", Parts: [][]byte{halves}}); err != nil {
		t.Fatal(err)
	}
	stored, err := data.ReadPoints(file, data.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ones := &sparse.CSR{Rows: 60, Cols: 70, Ptr: []int64{0}} // without values
	for i := range 60 {
		for j := range int32(4 + i%3) {
			ones.Col = append(ones.Col, int32(i)+j)
		}
		ones.Ptr = append(ones.Ptr, int64(len(ones.Col)))
	}
	lgc := pool.Member{Learner: propagation.Learner{Method: propagation.LGC}}
	l := pool.Learner{Name: "three", Help: "three", Members: []pool.Member{lgc, lgc, lgc}}
	for i, alpha := range []string{"0.5", "0.9", "0.99"} {
		l.Members[i].Settings = []models.Values{{"alpha": alpha}}
	}
	targets := modeltest.ClassTargets(t, truth.Keep([]int{0, 1})) // too few to choose: all members
	for name, x := range map[string]data.Points{"dense": dense, "halves": stored, "ones": ones} {
		problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Normalized, 2)
		m, err := l.Fit(t.Context(), &models.Input{Points: x, Graph: problem.Graph(), Targets: targets, Values: models.Values{}})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.npz")
		if err := models.Save(path, m, nil); err != nil {
			t.Fatal(err)
		}
		for array := range modeltest.Entries(t, path) {
			if strings.HasPrefix(array, "part") && strings.Contains(array, "points") {
				t.Errorf("%s: %s is there beside the points of the graph", name, array)
			}
		}
		back, _, err := models.Load(path, 0, func(string) models.Decoder { return l.Decode })
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Predict(t.Context(), x, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := back.Predict(t.Context(), x, nil); err != nil || !mat.Equal(got.Scores, want.Scores) {
			t.Errorf("%s: the model read answers otherwise, %v", name, err)
		}
		// An update begins with the answers of parts that share the points.
		if before, after := pool.Sharing(m), pool.Sharing(models.Unnamed(back)); before != 3 || after != 3 {
			t.Errorf("%s: %d of 3 parts share the points, of the model read %d", name, before, after)
		}
	}
}
