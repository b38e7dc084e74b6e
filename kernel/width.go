package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// Rule chooses the width σ of a kernel from distances between points.
type Rule int

const (
	// Median is the median distance.
	Median Rule = iota
	// Mean is the mean distance.
	Mean
)

var rules = enum.New[Rule]("rule for the width", "median", "mean")

// String returns the name used on the command line and in manifests.
func (r Rule) String() string { return rules.String(r) }

// MarshalText returns the name.
func (r Rule) MarshalText() ([]byte, error) { return rules.Marshal(r) }

// UnmarshalText is the inverse of MarshalText.
func (r *Rule) UnmarshalText(text []byte) error { return rules.Unmarshal(r, text) }

// widthSample is the number of points that Width looks at.
const widthSample = 1000

// Width returns the median or mean of the Euclidean distances (not squared) between all pairs of
// different points among 1000 points drawn by seed, or among all points if there are no more. It is
// an error if all points coincide. Width costs 10⁶·d operations.
func Width(x data.Points, rule Rule, seed uint64) (float64, error) {
	n, _ := x.Dims()
	if !rules.Valid(rule) {
		return 0, fmt.Errorf("kernel: %v rule for the width", rule)
	}
	if n < 2 {
		return 0, fmt.Errorf("kernel: %d points have no distances to choose a width from", n)
	}

	// A partial Fisher–Yates shuffle draws the sample.
	rng := rand.New(rand.NewPCG(seed, 0x7769647468)) // "width"
	m := min(n, widthSample)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := range m {
		j := i + rng.IntN(n-i)
		order[i], order[j] = order[j], order[i]
	}

	square := squaredDistances(x, order[:m])
	distances := make([]float64, m*(m-1)/2)
	par.For(m, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range i {
				distances[i*(i-1)/2+j] = math.Sqrt(square(i, j))
			}
		}
	})

	// Ascending, so that the sum does not depend on the order of the points.
	slices.Sort(distances)
	distances = distances[firstPositive(distances):]
	if len(distances) == 0 {
		return 0, fmt.Errorf("kernel: all points coincide; give the width")
	}

	// An even number of distances has two in the middle, and their mean is the median.
	if rule == Median {
		h := len(distances) / 2
		if len(distances)%2 == 0 {
			return distances[h-1]/2 + distances[h]/2, nil
		}
		return distances[h], nil
	}
	var sum float64
	for _, v := range distances {
		sum += v
	}

	return sum / float64(len(distances)), nil
}

// firstPositive returns the position of the first positive value.
func firstPositive(sorted []float64) int {
	p, _ := slices.BinarySearch(sorted, math.SmallestNonzeroFloat64)
	return p
}

// squaredDistances returns the function from places i and j to the squared distance of the points
// rows[i] and rows[j]. Dense points are copied.
func squaredDistances(x data.Points, rows []int) func(i, j int) float64 {
	if m, ok := x.(*sparse.CSR); ok {
		return func(i, j int) float64 { return sparse.SquaredDistance(m, rows[i], 1, m, rows[j], 1) }
	}
	_, d := x.Dims()
	copies := make([][]float64, len(rows))
	for p, i := range rows {
		copies[p] = make([]float64, d)
		data.RowTo(copies[p], x, i)
	}
	return func(i, j int) float64 { return squaredDistance(copies[i], copies[j]) }
}
