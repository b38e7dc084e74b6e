package modeltest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/sparse"
)

// sample is points with all that targets are made of.
type sample struct {
	x       data.Points
	blob    []int // the cluster of each point
	labeled []bool
	values  [][]float64 // two numbers a point
	labels  [][]float64 // three labels a point, 1, −1 or NaN
}

const sampleDim = 5

// blobs draws n points in three clusters and labels a seventh of them. The
// last two coordinates are mostly 0. Whole coordinates fit into uint8.
func blobs(n int, whole bool, seed uint64) *sample {
	rng := rand.New(rand.NewPCG(seed, 11))
	centres := [3][3]float64{{30, 30, 40}, {72, 30, 40}, {50, 72, 40}}
	x := data.NewDense[float64](n, sampleDim)
	s := &sample{x: x}
	for i := range n {
		b := i % 3
		row := x.Row(i)
		for j := range 3 {
			row[j] = min(max(0, centres[b][j]+7*rng.NormFloat64()), 120)
		}
		for j := 3; j < sampleDim; j++ {
			if rng.IntN(5) == 0 {
				row[j] = 6 * rng.Float64()
			}
		}

		if whole {
			for j, v := range row {
				row[j] = math.Round(v)
			}
		}

		labels := []float64{-1, -1, -1}
		labels[b] = 1
		if row[0]+row[1] > 100 {
			labels[(b+1)%3] = 1
		}

		// Some labels of known points are missing, as a block of targets may have gaps.
		if turn := i / 3 % 7; turn == 0 && i/21%4 == 1 { // a known one remains
			labels[i%3] = math.NaN()
		}
		s.blob = append(s.blob, b)
		s.labeled = append(s.labeled, i/3%7 == 0)
		s.values = append(s.values, []float64{row[0]/20 + math.Sin(row[1]/10), 3 - row[1]/30})
		s.labels = append(s.labels, labels)
	}

	return s
}

// take returns the points in the given order, which may repeat some.
func (s *sample) take(order []int) *sample {
	out := &sample{x: data.Select(s.x, order)}
	for _, i := range order {
		out.blob = append(out.blob, s.blob[i])
		out.labeled = append(out.labeled, s.labeled[i])
		out.values = append(out.values, s.values[i])
		out.labels = append(out.labels, s.labels[i])
	}
	return out
}

// with returns the sample with other points.
func (s *sample) with(x data.Points) *sample {
	out := *s
	out.x = x
	return &out
}

// kind is a kind of targets.
type kind struct {
	name    string
	learns  models.Learns
	targets func(s *sample) (*models.Targets, error)
}

// classesOf gives every point the class at the position of its cluster.
func classesOf(class [3]int64) func(s *sample) (*models.Targets, error) {
	return func(s *sample) (*models.Targets, error) {
		values := make([]int64, len(s.blob))
		for i, b := range s.blob {
			values[i] = class[b]
		}
		return models.ClassTargets(data.NewLabels(values, s.labeled))
	}
}

// softOf gives every labeled point a distribution in which the class of its cluster has 0.6, 0.8 or 1, and the others
// share the rest. Its label has one of the weights, nil for ones.
func softOf(class [3]int64, weights []float64) func(s *sample) (*models.Targets, error) {
	return func(s *sample) (*models.Targets, error) {
		classes := slices.Compact(slices.Clone(class[:]))
		shares := blockOf(s, len(classes), func(i int) []float64 {
			row := make([]float64, len(classes))
			sure := 0.6 + 0.2*float64(turnOf(s, i)%3)
			for c := range row {
				row[c] = (1 - sure) / float64(len(classes)-1)
			}
			row[slices.Index(classes, class[s.blob[i]])] = sure
			return row
		})
		t, err := models.ShareTargets(shares, classes, nil)
		if err != nil || weights == nil {
			return t, err
		}
		all := make([]float64, len(s.blob))
		for i := range all {
			all[i] = weights[turnOf(s, i)%len(weights)]
		}
		return t.Weighted(all)
	}
}

// turnOf is a number that belongs to point i wherever it stands.
func turnOf(s *sample, i int) int { return int(1000 * math.Abs(s.values[i][0])) }

// blockOf gives every labeled point a row.
func blockOf(s *sample, cols int, row func(i int) []float64) *mat.Dense {
	y := mat.NewDense(len(s.blob), cols, nil)
	for i := range s.blob {
		for j := range cols {
			y.Set(i, j, math.NaN())
			if s.labeled[i] {
				y.Set(i, j, row(i)[j])
			}
		}
	}
	return y
}

func valuesOf(cols int) func(s *sample) (*models.Targets, error) {
	return func(s *sample) (*models.Targets, error) {
		return models.ValueTargets(blockOf(s, cols, func(i int) []float64 { return s.values[i] }))
	}
}

// kinds are all kinds of targets; a learner learns some of them.
var kinds = []kind{
	{"3 classes", models.LearnsClasses, classesOf([3]int64{-3, 10, 41})},
	{"2 classes", models.LearnsClasses, classesOf([3]int64{5, 9, 9})},
	{"3 soft classes", models.LearnsShares, softOf([3]int64{-3, 10, 41}, nil)},
	{"2 soft classes", models.LearnsShares, softOf([3]int64{5, 9, 9}, nil)},
	{"weighted soft classes", models.LearnsShares | models.LearnsWeights,
		softOf([3]int64{-3, 10, 41}, []float64{1, 0.25, 3})},
	{"1 value", models.LearnsValues, valuesOf(1)},
	{"2 values", models.LearnsValues, valuesOf(2)},
	{"labels", models.LearnsLabels, func(s *sample) (*models.Targets, error) {
		return multilabel.LabelTargets(blockOf(s, 3, func(i int) []float64 { return s.labels[i] }),
			[]int64{2, 5, 7})
	}},
	{"inside", models.LearnsInside, func(s *sample) (*models.Targets, error) {
		return models.ValueTargets(blockOf(s, 1, func(int) []float64 { return []float64{0} }))
	}},
}

// neighborCount is the k of the graphs.
const neighborCount = 6

// graphOf joins every point of x with its nearest, all others where they are few.
func graphOf(ctx context.Context, x data.Points) (*models.Graph, error) {
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	nb, err := ix.Self(ctx, min(neighborCount, n-1))
	if err != nil {
		return nil, err
	}

	w, s, err := knn.FromNeighbors(nb, knn.GraphSettings{K: nb.K, Weights: knn.Heat})
	if err != nil {
		return nil, err
	}
	return &models.Graph{W: w, Components: w.Components(), Neighborhood: models.Neighborhood{
		Degrees: w.Degrees(), Points: x, Method: knn.Brute, Edges: s, Lists: nb}}, nil
}

// input makes all that a learner needs to learn from a sample.
func input(l models.Learner, s *sample, k kind, v models.Values) (*models.Input, error) {
	t, err := k.targets(s)
	if err != nil {
		return nil, err
	}
	return inputFor(l, s.x, t, v)
}

func inputFor(l models.Learner, x data.Points, t *models.Targets, v models.Values) (*models.Input, error) {
	ctx := context.Background()
	info := l.Info()
	in := &models.Input{Points: x, Targets: t, Values: models.Values{}.With(v), Seed: 5}

	// A learner gets no more than it asks for, so that one that reads more fails.
	if info.UsesGraph(in.Values) || info.Needs.Has(models.NeedsEigenpairs) {
		var err error
		if in.Graph, err = graphOf(ctx, x); err != nil {
			return nil, err
		}
		in.Edges = in.Graph.W.NNZ()
	}

	if info.Needs.Has(models.NeedsOutputGraph) {
		in.Outputs = outputPath(t)
	}
	return in, addPairs(ctx, l, in)
}

// addPairs computes the eigenpairs that a learner asks for.
func addPairs(ctx context.Context, l models.Learner, in *models.Input) error {
	paired, ok := l.(models.Paired)
	if info := l.Info(); !ok || !info.Needs.Has(models.NeedsEigenpairs) {
		return nil
	}

	// The learner says which eigenpairs it needs, at which accuracy; a small graph has fewer.
	k, kind, tolerance, err := paired.Pairs(in)
	if err != nil {
		return err
	}
	in.Laplacian = kind
	laplacian, err := in.LaplacianOf(kind)
	if err != nil {
		return err
	}

	in.Pairs, err = lanczos.Laplacian(ctx, laplacian, in.Graph.Components,
		&lanczos.Settings{K: min(k, in.Len()), Tolerance: tolerance})
	return err
}

// outputPath joins every column of the targets with the next; nil for one column.
func outputPath(t *models.Targets) *sparse.CSR {
	_, c := t.Y.Dims()
	if c < 2 {
		return nil
	}
	w := &sparse.CSR{Rows: c, Cols: c, Ptr: []int64{0}}
	for i := range c {
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < c {
				w.Col = append(w.Col, int32(j))
				w.Val = append(w.Val, 1)
			}
		}
		w.Ptr = append(w.Ptr, int64(len(w.Col)))
	}

	return w
}
