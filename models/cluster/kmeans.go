package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// kmeansSettings of [kmeans].
type kmeansSettings struct {
	clusters, restarts, maxIterations int
	seed                              uint64
}

// enough is the relative gain in Σ‖x − c‖² below which a run of k-means ends: a gain as
// small as kmeansTie would not count in the choice of the best run either.
const enough = 1e-9

// kmeansTie is the relative difference up to which distances, and sums of them, count as
// equal. Of equal choices the first is taken. It is far above rounding errors, so that every
// instruction set makes the same choices.
const kmeansTie = 1e-9

// kmeansRows is the number of rows in a piece of work. Sums are made piece by piece and
// added in order, so that they do not depend on the number of threads.
const kmeansRows = 4096

// RowClusters puts the n rows of x, which is not changed, into k ≤ n clusters, none of them empty, with a small
// sum of squared distances to the means of the clusters. It takes the best of restarts runs of Lloyd's
// algorithm of at most iterations steps, from greedy k-means++ starts (Arthur & Vassilvitskii, SODA 2007),
// and returns the cluster of each row, numbered by their first row. A run costs 2nkd operations an
// iteration of an n×d matrix; it holds a copy of x.
func RowClusters(ctx context.Context, x *mat.Dense, k, restarts, iterations int, seed uint64) ([]int32, error) {
	if n, _ := x.Dims(); k < 1 || k > n || restarts < 1 || iterations < 1 {
		return nil, fmt.Errorf("cluster: %d clusters of %d rows by %d runs of %d steps; there must be at least one "+
			"of each, and no more clusters than rows", k, n, restarts, iterations)
	}
	labels, _, err := kmeans(ctx, x, kmeansSettings{k, restarts, iterations, seed})
	return labels, err
}

// kmeans puts the n rows of x into k ≤ n clusters, none of them empty, with a small sum of
// squared distances to the means of the clusters. It takes the best of several runs of
// Lloyd's algorithm from greedy k-means++ starts (Arthur & Vassilvitskii, SODA 2007). It
// returns the clusters, numbered by their first row, and the k×d centres. An empty cluster
// takes the row that is farthest from its centre. A run costs 2nkd operations an iteration.
func kmeans(ctx context.Context, x *mat.Dense, s kmeansSettings) ([]int32, *mat.Dense, error) {
	n, d := x.Dims()
	r := newKMeansRun(x, s.clusters)
	rng := rand.New(rand.NewPCG(s.seed, 0x6b6d65616e73))
	best := math.Inf(1)
	labels := make([]int32, n)
	for range s.restarts {
		r.start(rng)
		inertia := math.Inf(1)
		for range s.maxIterations {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			// One iteration of Lloyd's algorithm.
			changed := r.assign()
			r.refill()
			r.means()
			last := inertia
			inertia = r.measure()
			if !changed || last-inertia <= enough*inertia {
				break
			}
		}

		if inertia < best*(1-kmeansTie) || math.IsInf(best, 1) {
			best = inertia
			copy(labels, r.labels)
		}
	}

	// The centres belong to the last run: compute them again, for the best labels, and
	// move them back to where the points were.
	numberClusters(labels, s.clusters)
	copy(r.labels, labels)
	r.means()
	centres := mat.NewDense(s.clusters, d, nil)
	for c := range s.clusters {
		row := centres.RawRowView(c)
		for j, v := range r.centres.RawRowView(c) {
			row[j] = v + r.mean[j]
		}
	}

	return labels, centres, nil
}

// kmeansRun is the state of a run.
type kmeansRun struct {
	x       *mat.Dense // n×d, centred, so that products lose little
	mean    []float64
	centres *mat.Dense // k×d
	labels  []int32
	dist    []float64 // squared distance of each row to its centre
	sizes   []int
	partial []*mat.Dense // sums of rows by piece and cluster
	// rounding is the squared distance up to which rows count as equal.
	rounding float64
}

// newKMeansRun centres a copy of x.
func newKMeansRun(x *mat.Dense, k int) *kmeansRun {
	n, d := x.Dims()
	r := &kmeansRun{x: mat.DenseCopyOf(x), mean: make([]float64, d), centres: mat.NewDense(k, d, nil),
		labels: make([]int32, n), dist: make([]float64, n), sizes: make([]int, k)}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			r.mean[j] += v / float64(n)
		}
	}

	// Products of long vectors with a small difference lose its digits, so the mean goes.
	for i := range n {
		row := r.x.RawRowView(i)
		var square float64
		for j, v := range r.mean {
			row[j] -= v
			square += row[j] * row[j]
		}
		r.rounding = max(r.rounding, square*kmeansTie*kmeansTie*1e-6)
	}

	for range par.Chunks(n, kmeansRows) {
		r.partial = append(r.partial, mat.NewDense(k, d, nil))
	}
	return r
}

// start chooses centres by greedy k-means++. The first is a row at random. For each further
// centre a few rows are drawn, with probability proportional to the squared distance to the
// nearest centre, and the row that lowers the sum of these distances most is taken.
func (r *kmeansRun) start(rng *rand.Rand) {
	n, _ := r.x.Dims()
	k := len(r.sizes)
	for i := range r.labels {
		r.labels[i] = Unassigned
	}
	taken := make([]bool, n)
	for i := range r.dist {
		r.dist[i] = math.Inf(1)
	}
	trials := 2 + int(math.Log(float64(k))) // as Arthur & Vassilvitskii (2007) suggest

	// near holds the distances with the row on trial, kept those with the best so far.
	near := make([]float64, n)
	kept := make([]float64, n)
	for c := range k {
		chosen := -1
		lowest := math.Inf(1)
		for t := range trials {
			if c == 0 && t > 0 {
				break
			}
			at := r.draw(rng, taken, c == 0)
			row := r.x.RawRowView(at)
			sum := par.Sum(n, kmeansRows, func(lo, hi int) (sum float64) {
				for i := lo; i < hi; i++ {
					near[i] = min(r.dist[i], squaredDistance(r.x.RawRowView(i), row))
					if near[i] <= r.rounding {
						near[i] = 0
					}
					sum += near[i]
				}
				return sum
			})

			if chosen < 0 || sum < lowest*(1-kmeansTie) {
				chosen = at
				lowest = sum
				near, kept = kept, near
			}
		}

		taken[chosen] = true
		r.dist, kept = kept, r.dist
		copy(r.centres.RawRowView(c), r.x.RawRowView(chosen))
	}
}

// draw returns a row that is not taken, with probability proportional to its
// squared distance, or uniform if these are all zero.
func (r *kmeansRun) draw(rng *rand.Rand, taken []bool, uniform bool) int {
	var total float64
	if !uniform {
		for _, v := range r.dist {
			total += v
		}
	}

	if total > 0 {
		left := total * rng.Float64()
		last := -1
		for i, v := range r.dist {
			if v > 0 {
				last = i
				if left -= v; left < 0 {
					break
				}
			}
		}
		return last
	}

	// All remaining rows coincide with centres: any that is not taken will do.
	at := rng.IntN(len(taken))
	for taken[at] {
		at = (at + 1) % len(taken)
	}
	return at
}

// assign gives every row the nearest centre, the first of equals, and reports
// whether a label changed.
func (r *kmeansRun) assign() bool {
	n, d := r.x.Dims()
	k := len(r.sizes)
	half := make([]float64, k) // ‖c‖²/2
	var tie float64
	for c := range half {
		for _, v := range r.centres.RawRowView(c) {
			half[c] += v * v / 2
		}
		tie = max(tie, kmeansTie*half[c])
	}

	// The nearest centre has the least ‖c‖²/2 − xᵀc: one product with all centres.
	changed := false
	products := mat.NewDense(min(n, kmeansRows), k, nil)
	for lo := 0; lo < n; lo += kmeansRows {
		hi := min(lo+kmeansRows, n)
		p := products.Slice(0, hi-lo, 0, k).(*mat.Dense)
		dense.Gemm(dense.NoTrans, dense.Transposed, 1, r.x.Slice(lo, hi, 0, d).(*mat.Dense), r.centres, 0, p)
		for i := lo; i < hi; i++ {
			best := int32(0)
			least := math.Inf(1)
			for c, v := range p.RawRowView(i - lo) {
				if away := half[c] - v; away < least-tie || c == 0 {
					best = int32(c)
					least = away
				}
			}
			changed = changed || r.labels[i] != best
			r.labels[i] = best
		}
	}

	return changed
}

// refill counts the clusters and gives an empty one the row farthest from its
// centre, the first of equals, that is not alone.
func (r *kmeansRun) refill() {
	clear(r.sizes)
	for _, c := range r.labels {
		r.sizes[c]++
	}
	if !slices.Contains(r.sizes, 0) {
		return
	}

	// The row farthest from its centre gains most by a cluster of its own.
	r.measure()
	for c := range r.sizes {
		if r.sizes[c] > 0 {
			continue
		}
		far := -1
		for i, v := range r.dist {
			if r.sizes[r.labels[i]] > 1 && (far < 0 || v > r.dist[far]*(1+kmeansTie)) {
				far = i
			}
		}
		r.sizes[r.labels[far]]--
		r.labels[far] = int32(c)
		r.sizes[c] = 1
		r.dist[far] = 0
	}
}

// means moves every centre to the mean of the rows with its label.
func (r *kmeansRun) means() {
	n, _ := r.x.Dims()
	par.For(n, kmeansRows, func(lo, hi int) {
		sum := r.partial[lo/kmeansRows]
		sum.Zero()
		for i := lo; i < hi; i++ {
			to := sum.RawRowView(int(r.labels[i]))
			for j, v := range r.x.RawRowView(i) {
				to[j] += v
			}
		}
	})

	// Pieces are added in their order, for the same bits at any number of threads.
	r.centres.Zero()
	for _, sum := range r.partial {
		r.centres.Add(r.centres, sum)
	}
	clear(r.sizes)
	for _, c := range r.labels {
		r.sizes[c]++
	}
	for c, size := range r.sizes {
		row := r.centres.RawRowView(c)
		for j := range row {
			row[j] /= float64(size)
		}
	}
}

// measure sets the distances of all rows to their centres and returns their sum.
func (r *kmeansRun) measure() float64 {
	n, _ := r.x.Dims()
	return par.Sum(n, kmeansRows, func(lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			r.dist[i] = squaredDistance(r.x.RawRowView(i), r.centres.RawRowView(int(r.labels[i])))
			sum += r.dist[i]
		}
		return sum
	})
}

// squaredDistance returns ‖a − b‖².
func squaredDistance(a, b []float64) float64 {
	var sum float64
	for j, v := range a {
		v -= b[j]
		sum += v * v
	}
	return sum
}
