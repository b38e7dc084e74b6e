package audit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/audit"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// clusters are n points of d dimensions in four groups, in random order, and their groups.
func clusters(n, d int, seed uint64) (*data.Dense[float64], []int64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x := data.NewDense[float64](n, d)
	class := make([]int64, n)
	for i := range n {
		class[i] = int64(rng.IntN(4))
		for j := range d {
			x.Row(i)[j] = rng.NormFloat64()
		}
		x.Row(i)[class[i]%int64(d)] += 12 - 24*float64(class[i]/int64(d))
	}
	return x, class
}

func mustRun(t *testing.T, x data.Points, y *audit.Targets, s *audit.Settings) *audit.Result {
	t.Helper()
	r, err := audit.Run(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rowsOf lists the rows of groups.
func rowsOf(groups []audit.Group) [][]int {
	var out [][]int
	for _, g := range groups {
		out = append(out, g.Rows)
	}
	return out
}

func TestDuplicates(t *testing.T) {
	x, class := clusters(400, 6, 1)
	copy(x.Row(50), x.Row(7))
	copy(x.Row(90), x.Row(7))
	copy(x.Row(300), x.Row(200))
	class[50] = class[7]
	class[90] = (class[7] + 1) % 4 // a conflict
	class[300] = class[200]
	for j, v := range x.Row(11) {
		x.Row(12)[j] = v + 1e-3
		x.Row(13)[j] = v - 1e-3
	}
	class[12] = class[11]
	class[13] = (class[11] + 2) % 4

	for _, kind := range []string{"float64", "float32", "sparse"} {
		t.Run(kind, func(t *testing.T) {
			var points data.Points = x
			s := &audit.Settings{}
			switch kind {
			case "float32":
				f := data.NewDense[float32](x.Rows, x.Cols)
				for p, v := range x.Data {
					f.Data[p] = float32(v)
				}
				points = f
			case "sparse":
				points = data.ToSparse(x)
				s.Graph = &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 10}}
			}
			d := mustRun(t, points, &audit.Targets{Labels: data.NewLabels(class, nil)}, s).Duplicates
			if got := fmt.Sprint(rowsOf(d.Exact)); got != "[[7 50 90] [200 300]]" {
				t.Errorf("equal points: %s", got)
			}
			if !d.Exact[0].Conflict || d.Exact[1].Conflict {
				t.Errorf("conflicts: %+v", d.Exact)
			}
			if got := fmt.Sprint(rowsOf(d.Near)); got != "[[11 12 13]]" || !d.Near[0].Conflict {
				t.Errorf("near duplicates within %v: %s", d.Threshold, got)
			}
			if audit.Copies(d.Exact) != 3 || audit.Conflicts(d.Exact) != 1 {
				t.Errorf("%d copies, %d conflicts", audit.Copies(d.Exact), audit.Conflicts(d.Exact))
			}
		})
	}
}

// Points that lie evenly have no near duplicates, in few dimensions and in many.
func TestNoDuplicatesByChance(t *testing.T) {
	for _, d := range []int{1, 2, 3, 10} {
		found := 0
		for seed := range uint64(5) {
			rng := rand.New(rand.NewPCG(seed, uint64(d)))
			x := data.NewDense[float64](1000, d)
			for p := range x.Data {
				x.Data[p] = rng.Float64()
			}
			r := mustRun(t, x, nil, nil)
			found += len(r.Duplicates.Pairs)
			if d > 1 && !(r.Duplicates.Intrinsic > 0.64*float64(d) && r.Duplicates.Intrinsic < 1.3*float64(d)) {
				t.Errorf("%d dimensions: estimated as %v", d, r.Duplicates.Intrinsic)
			}
		}
		if found > 8 { // 5 draws with ByChance pairs each, by expectation 2.5
			t.Errorf("%d dimensions: %d near duplicates in five sets of even points", d, found)
		}
	}
}

// Outliers of a dense and of a sparse group are found alike, and no others.
func TestOutliers(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	x := data.NewDense[float64](600, 5)
	for i := range 600 {
		scale := 0.01
		if i%2 == 1 {
			scale = 10
		}
		for j := range 5 {
			x.Row(i)[j] = 1000*float64(i%2) + scale*rng.NormFloat64()
		}
	}
	planted := []int{100, 101}
	for j := range 5 {
		x.Row(100)[j] += 0.2
		x.Row(101)[j] += 200
	}
	o := mustRun(t, x, nil, nil).Outliers
	if len(o.Rows) < 2 || len(o.Rows) > 8 {
		t.Fatalf("%d outliers", len(o.Rows))
	}
	if first := slices.Sorted(slices.Values(o.Rows[:2])); !slices.Equal(first, planted) {
		t.Errorf("the first outliers are %v", o.Rows)
	}
	for i, s := range o.Score {
		if !(s >= 0 && s <= 1) {
			t.Errorf("point %d has the score %v", i, s)
		}
		if slices.Contains(o.Rows, i) != (s >= o.Threshold) {
			t.Errorf("point %d with the score %v is listed: %v", i, s, !(s >= o.Threshold))
		}
	}
}

func TestValues(t *testing.T) {
	x, _ := clusters(200, 8, 3)
	for i := range 200 {
		x.Row(i)[4] = 0
		x.Row(i)[5] = 7
		x.Row(i)[6] *= 1000
	}
	clear(x.Row(30))
	for j := range 8 {
		x.Row(31)[j] = 7
	}
	x.Row(30)[5] = 0
	v := mustRun(t, x, nil, nil).Values
	if len(v.Zero) != 0 || len(v.Constant) != 0 { // rows 30 and 31 differ there
		t.Errorf("%+v", v)
	}
	if !slices.Equal(v.ZeroRows, []int{30}) || !slices.Equal(v.ConstantRows, []int{31}) {
		t.Errorf("rows %v and %v", v.ZeroRows, v.ConstantRows)
	}
	if v.Scale == nil || !slices.Equal(v.Scale.Columns, []int{6}) || v.Scale.Share < 0.9 {
		t.Errorf("scale %+v", v.Scale)
	}

	x, _ = clusters(200, 8, 3)
	for i := range 200 {
		x.Row(i)[4] = 0
		x.Row(i)[5] = 7
	}
	for _, points := range []data.Points{x, data.ToSparse(x)} {
		v := mustRun(t, points, nil, nil).Values
		if !slices.Equal(v.Zero, []int{4}) || !slices.Equal(v.Constant, []int{5}) || v.Scale != nil {
			t.Errorf("%T: %+v", points, v)
		}
	}
}

// Rows that are not finite are listed; all other numbers are as without them, with the numbers of the rows
// as given.
func TestNotFinite(t *testing.T) {
	x, class := clusters(300, 5, 4)
	copy(x.Row(250), x.Row(120))
	class[250] = class[120]
	class[77] = (class[77] + 1) % 4
	bad := []int{0, 121, 299}
	clean := mustRun(t, data.Select(x, data.Without(300, bad)), &audit.Targets{Labels: data.NewLabels(class, nil).Select(data.Without(300, bad))}, nil)
	x.Row(0)[2] = math.NaN()
	x.Row(121)[0] = math.Inf(1)
	for j := range 5 {
		x.Row(299)[j] = math.NaN()
	}
	before := slices.Clone(x.Data)
	r := mustRun(t, x, &audit.Targets{Labels: data.NewLabels(class, nil)}, nil)
	if !slices.EqualFunc(x.Data, before, func(a, b float64) bool { return a == b || a != a && b != b }) {
		t.Error("the points were changed")
	}
	if !slices.Equal(r.Values.NotFinite, bad) || !slices.Equal(r.Values.NaNRows, []int{299}) {
		t.Errorf("%v, of NaN alone %v", r.Values.NotFinite, r.Values.NaNRows)
	}
	if got := fmt.Sprint(rowsOf(r.Duplicates.Exact)); got != "[[120 250]]" {
		t.Errorf("equal points %s", got)
	}
	if len(r.Labels.List) == 0 || r.Labels.List[0].Point != 77 || r.Labels.Targets.Len != 300 {
		t.Errorf("suspects %+v of %d points", r.Labels.List, r.Labels.Targets.Len)
	}
	for p, i := range data.Without(300, bad) {
		if r.Outliers.Score[i] != clean.Outliers.Score[p] {
			t.Fatalf("point %d has the score %v, without the rows %v", i, r.Outliers.Score[i], clean.Outliers.Score[p])
		}
	}
	if !math.IsNaN(r.Outliers.Score[121]) || r.Classes.Total != 300 {
		t.Errorf("score %v, %d labels", r.Outliers.Score[121], r.Classes.Total)
	}
	if issues := r.Issues(); !slices.Equal(issues[299], []string{audit.IssueNotFinite}) || !slices.Contains(issues[250], audit.IssueDuplicate) {
		t.Errorf("issues %v and %v", issues[299], issues[250])
	}

	for p := range x.Data {
		x.Data[p] = math.NaN()
	}
	r = mustRun(t, x, &audit.Targets{Labels: data.NewLabels(class, nil)}, nil)
	if len(r.Values.NaNRows) != 300 || len(r.Values.NaN) != 5 || r.K != 0 || r.Labels != nil {
		t.Errorf("all NaN: %+v", r)
	}
	r.Table(&audit.Targets{Labels: data.NewLabels(class, nil)}, nil)
}

// In random order p values are spread evenly; points sorted by class, or in runs, are found.
func TestOrder(t *testing.T) {
	small := 0
	const draws = 40
	for seed := range uint64(draws) {
		x, _ := clusters(150, 3, 100+seed)
		o := mustRun(t, x, nil, nil).Order
		if o.Sorted() {
			t.Errorf("seed %d: a random order is sorted, D = %v, p = %v", seed, o.D, o.P)
		}
		if o.P < 0.1 {
			small++
		}
	}
	if small > 11 { // 4 by expectation; 12 or more have a probability of 0.0005
		t.Errorf("%d of %d random orders have p < 0.1", small, draws)
	}

	x, class := clusters(400, 3, 9)
	byClass := data.Range(0, 400)
	slices.SortStableFunc(byClass, func(a, b int) int { return int(class[a] - class[b]) })
	if o := mustRun(t, data.Select(x, byClass), nil, nil).Order; !o.Sorted() || o.P > 1e-6 {
		t.Errorf("sorted by class: D = %v, p = %v", o.D, o.P)
	}
	walk := data.NewDense[float64](400, 3)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := 1; i < 400; i++ {
		for j := range 3 {
			walk.Row(i)[j] = walk.Row(i - 1)[j] + rng.NormFloat64()
		}
	}
	if o := mustRun(t, walk, nil, nil).Order; !o.Sorted() {
		t.Errorf("a walk: D = %v, p = %v", o.D, o.P)
	}
	// Ties at the nearest neighbour, as among words or bytes, must not look like an order.
	ties := data.NewDense[float64](600, 3)
	for p := range ties.Data {
		ties.Data[p] = float64(rng.IntN(4))
	}
	if o := mustRun(t, ties, nil, nil).Order; o.Sorted() {
		t.Errorf("ties: %+v", o)
	}
}

func TestRandomGap(t *testing.T) {
	const n = 12
	for gap := 0; gap < n; gap++ {
		within := 0
		for i := range n {
			for j := range n {
				if i != j && max(i-j, j-i) <= gap {
					within++
				}
			}
		}
		if want := float64(within) / (n * (n - 1)); math.Abs(audit.RandomGap(gap, n)-want) > 1e-12 {
			t.Errorf("F(%d) = %v, want %v", gap, audit.RandomGap(gap, n), want)
		}
	}
}

// TestFewLabels gives no number of wrong labels below five labels a class.
func TestFewLabels(t *testing.T) {
	x, class := clusters(600, 5, 6)
	for _, each := range []int{4, 5} {
		known := make([]bool, len(class))
		count := map[int64]int{}
		for i, c := range class {
			known[i] = count[c] < each
			count[c]++
		}
		l := mustRun(t, x, &audit.Targets{Labels: data.NewLabels(class, known)}, nil).Labels
		if judged := l.Labeled - l.Unknown; judged != each*len(count) || l.Few != (each < 5) {
			t.Errorf("%d labels a class: %d judged, few: %v", each, judged, l.Few)
		}
	}
}

func TestLabels(t *testing.T) {
	x, class := clusters(600, 5, 6)
	wrong := map[int]bool{}
	for i := 3; i < 600; i += 29 {
		class[i] = (class[i] + 1 + int64(i%3)) % 4
		wrong[i] = true
	}
	for _, most := range []float64{0, 1} {
		r := mustRun(t, x, &audit.Targets{Labels: data.NewLabels(class, nil)}, &audit.Settings{MostOperations: most})
		l := r.Labels
		if want := map[float64]string{0: "harmonic", 1: audit.Neighbours}[most]; l.Judge != want {
			t.Errorf("the judge is %s, want %s", l.Judge, want)
		}
		for _, s := range l.List[:len(wrong)] {
			if !wrong[s.Point] {
				t.Errorf("%s: point %d is among the first suspects", l.Judge, s.Point)
			}
		}
		if l.Low > len(wrong) || l.High < len(wrong) {
			t.Errorf("%s: %d to %d are wrong, and %d were planted", l.Judge, l.Low, l.High, len(wrong))
		}
		for q, i := range l.Targets.Labeled {
			if wrong[i] && !(r.Worth.Value[q] < 0) {
				t.Errorf("the wrong label of point %d has the value %v", i, r.Worth.Value[q])
			}
			if s := l.Score[q]; !(s >= 0 && s <= 1) {
				t.Errorf("score %v", s)
			}
		}
	}

	// Few labels are judged on the graph of all points; the values are those among the labeled points.
	few := data.NewLabels(class, nil).Keep(data.Range(0, 150))
	r := mustRun(t, x, &audit.Targets{Labels: few}, nil)
	if r.Labels.Judge != "lgc" || len(r.Worth.Rows) != 150 || r.Classes.Total != 150 {
		t.Errorf("few labels: %s, %d values", r.Labels.Judge, len(r.Worth.Rows))
	}
	for _, s := range r.Labels.List[:4] {
		if !wrong[s.Point] {
			t.Errorf("few labels: point %d is a suspect", s.Point)
		}
	}
}

func TestClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	x := data.NewDense[float64](400, 2)
	codes := make([]int32, 400)
	for i := range 400 {
		codes[i] = int32(i % 3)
		place := []float64{0, 100, 101}[i%3] // 1 and 2 mingle
		if i == 5 {
			codes[i] = 3
			place = 500
		}
		x.Row(i)[0] = place + rng.NormFloat64()
		x.Row(i)[1] = rng.NormFloat64()
	}
	y := &data.Labels{Classes: []int64{0, 1, 2, 3, 4}, Names: []string{"a", "b", "c", "d", "empty"}, Index: codes}
	r := mustRun(t, x, &audit.Targets{Labels: y}, nil)
	c := r.Classes
	if c.Count[4] != 0 || !slices.Equal(c.Rare, []int32{4, 3}) {
		t.Errorf("counts %v, rare %v", c.Count, c.Rare)
	}
	if m := c.Mixed[0]; m.A != 1 || m.B != 2 || !(m.Share > 0.1 && m.Share < 0.6) {
		t.Errorf("mixed %+v", c.Mixed)
	}
	sum := 0
	for _, v := range c.Confused {
		sum += v.Count
	}
	if sum != 400 || c.Right < 200 || c.Right > 395 {
		t.Errorf("%d answers, %d right", sum, c.Right)
	}
}

func TestRegression(t *testing.T) {
	x, _ := clusters(300, 3, 11)
	y := mat.NewDense(300, 1, nil)
	for i := range 300 {
		y.Set(i, 0, x.Row(i)[0]+x.Row(i)[1])
	}
	y.Set(40, 0, 100)
	y.Set(41, 0, math.NaN())
	copy(x.Row(60), x.Row(61))
	y.Set(60, 0, y.At(61, 0)+0.5)
	r := mustRun(t, x, &audit.Targets{Values: y}, nil)
	if len(r.Answers.List) == 0 || r.Answers.List[0].Point != 40 || r.Answers.Given != 299 {
		t.Errorf("values to check: %+v", r.Answers)
	}
	if len(r.Duplicates.Exact) != 1 || !r.Duplicates.Exact[0].Conflict {
		t.Errorf("duplicates: %+v", r.Duplicates.Exact)
	}
	if r.Labels != nil || r.Worth != nil || r.Classes != nil {
		t.Error("values have no labels")
	}
	r.Table(&audit.Targets{Values: y}, nil)
}

// Sets at the edge: nothing fails, and what cannot be said is left out.
func TestEdges(t *testing.T) {
	equal := data.NewDense[float64](40, 3)
	for p := range equal.Data {
		equal.Data[p] = 2
	}
	one := data.NewDense[float64](1, 2)
	three, _ := clusters(3, 2, 1)
	two := data.NewDense[float64](2, 1)
	two.Data[1] = 1
	empty := &sparse.CSR{Rows: 5, Cols: 4, Ptr: make([]int64, 6), Val: []float64{}, Col: []int32{}}
	labels := func(n int, of func(i int) int64) *audit.Targets {
		v := make([]int64, n)
		for i := range v {
			v[i] = of(i)
		}
		return &audit.Targets{Labels: data.NewLabels(v, nil)}
	}
	alternating := func(i int) int64 { return int64(i % 2) }
	same := func(int) int64 { return 1 }

	for name, c := range map[string]struct {
		x data.Points
		y *audit.Targets
	}{
		"one point":                   {one, nil},
		"one labeled point":           {one, labels(1, same)},
		"two points":                  {two, labels(2, alternating)},
		"fewer points than a list":    {three, labels(3, alternating)},
		"all points equal":            {equal, labels(40, alternating)},
		"one class":                   {three, labels(3, same)},
		"sparse points of zeros":      {empty, labels(5, alternating)},
		"no label":                    {three, &audit.Targets{Labels: data.NewLabels([]int64{1, 2, 3}, []bool{false, false, false})}},
		"one label":                   {three, &audit.Targets{Labels: data.NewLabels([]int64{1, 2, 3}, []bool{false, true, false})}},
		"no value":                    {three, &audit.Targets{Values: mat.NewDense(3, 1, []float64{math.NaN(), math.NaN(), 1})}},
		"values of equal points":      {equal, &audit.Targets{Values: mat.NewDense(40, 2, nil)}},
		"neither labels nor values":   {three, &audit.Targets{}},
		"values of one point":         {one, &audit.Targets{Values: mat.NewDense(1, 1, []float64{3})}},
		"classes of one label each":   {three, labels(3, func(i int) int64 { return int64(i) })},
		"two classes, equal points":   {equal, labels(40, func(i int) int64 { return int64(i / 20) })},
		"integers of bytes, as usual": {&data.Dense[uint8]{Rows: 4, Cols: 2, Data: []uint8{1, 2, 1, 2, 3, 4, 0, 0}}, labels(4, alternating)},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRun(t, c.x, c.y, nil)
			r.Issues()
			r.Table(c.y, nil)
			if x, ok := c.x.(*data.Dense[float64]); ok && x == equal && (len(r.Duplicates.Exact) != 1 || len(r.Duplicates.Exact[0].Rows) != 40) {
				t.Errorf("groups %v", rowsOf(r.Duplicates.Exact))
			}
		})
	}
}

func TestFaults(t *testing.T) {
	x, class := clusters(30, 3, 1)
	y := data.NewLabels(class, nil)
	huge := data.NewDense[float64](3, 1)
	huge.Data[1] = 1e200
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		x    data.Points
		y    *audit.Targets
		s    *audit.Settings
		want string
	}{
		"no points":        {nil, nil, nil, nil, "there are no points"},
		"labels too short": {nil, x, &audit.Targets{Labels: y.Select(data.Range(0, 29))}, nil, "30 points and 29 labels"},
		"both":             {nil, x, &audit.Targets{Labels: y, Values: mat.NewDense(30, 1, nil)}, nil, "labels and values"},
		"votes":            {nil, x, nil, &audit.Settings{Votes: -1}, "Votes is -1"},
		"radius":           {nil, x, nil, &audit.Settings{Graph: &pipeline.GraphSettings{Graph: knn.GraphSettings{Radius: 1}}}, "radius"},
		"ids":              {nil, x, nil, &audit.Settings{IDs: &data.IDs{Values: []string{"a"}}}, "30 points and 1 ids"},
		"huge":             {nil, huge, nil, nil, "1e+200"},
		"memory":           {nil, x, nil, &audit.Settings{Pipeline: &pipeline.Pipeline{Memory: 10}}, "memory"},
		"cancelled":        {ended, x, nil, nil, "cancel"},
		"part of a value":  {nil, x, &audit.Targets{Values: mat.NewDense(30, 2, append(make([]float64, 59), math.NaN()))}, nil, "1 of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			if r, err := audit.Run(ctx, c.x, c.y, c.s); err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestRepeatedIDs(t *testing.T) {
	x, _ := clusters(6, 2, 1)
	r := mustRun(t, x, nil, &audit.Settings{IDs: &data.IDs{Values: []string{"a", "b", "a", "c", "b", "a"}}})
	if got := fmt.Sprint(r.IDs); got != "[{a [0 2 5]} {b [1 4]}]" {
		t.Errorf("ids %s", got)
	}
	if issues := r.Issues(); !slices.Contains(issues[4], audit.IssueRepeatedID) || slices.Contains(issues[3], audit.IssueRepeatedID) {
		t.Errorf("issues %v", issues)
	}
}
