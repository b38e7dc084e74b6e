// Package cluster puts the vertices of a graph, or points, into clusters. [NormalizedCut]
// uses eigenvectors of the normalized Laplacian, and [Cuts] measures its result by cuts and
// volumes. [FitSpectral] uses functions of a kernel, which extend to new points; its models
// are kept in files.
//
// J. Shi and J. Malik, Normalized cuts and image segmentation, IEEE PAMI 22 (2000).
// A. Ng, M. Jordan and Y. Weiss, On spectral clustering, NIPS 2001. M. Belkin, P.
// Niyogi and V. Sindhwani, Manifold regularization, JMLR 7 (2006), section 6.1.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// Rule makes clusters of the rows of eigenvectors.
type Rule int

const (
	// KMeans puts the rows of as many eigenvectors as clusters into clusters
	// by k-means.
	KMeans Rule = iota
	// Sign cuts in two where the second eigenvector changes its sign: Belkin &
	// Niyogi (2004), section 7.4.
	Sign
	// Sweep cuts in two at that threshold of the second eigenvector where the
	// Cheeger value h is smallest. With the second eigenvalue λ it keeps
	// λ/2 ≤ h ≤ √(2λ) (Chung 1997, chapter 2).
	Sweep
)

var rules = enum.New[Rule]("rule", "k-means", "sign", "sweep")

// String returns the name used on the command line and in manifests.
func (r Rule) String() string { return rules.String(r) }

// MarshalText returns the name.
func (r Rule) MarshalText() ([]byte, error) { return rules.Marshal(r) }

// UnmarshalText is the inverse of MarshalText.
func (r *Rule) UnmarshalText(text []byte) error { return rules.Unmarshal(r, text) }

// Settings of [NormalizedCut].
type Settings struct {
	// Clusters is the number of clusters, at least 1.
	Clusters int `json:"clusters"`
	// Auto chooses the number by the largest gap between eigenvalues, see [Choice]; Clusters must be 0.
	Auto bool `json:"auto,omitempty"`
	// Rule defaults to KMeans. The others need two clusters.
	Rule Rule `json:"rule"`
	// RowNormalize scales every row of the eigenvectors to length 1 before
	// k-means (Ng, Jordan & Weiss 2002). Without it k-means takes the rows of D^-½U
	// (Shi & Malik 2000).
	RowNormalize bool `json:"row_normalize"`
	// MinComponent is the least size of a component: points in smaller components get
	// no cluster. Default 1: all points get one.
	MinComponent int `json:"min_component"`
	// Restarts is the number of runs of k-means; the best run counts. Default 10.
	Restarts int `json:"restarts"`
	// MaxIterations of a run of k-means. Default 300.
	MaxIterations int `json:"max_iterations"`
	// Tolerance of the eigenpairs. Default: the default of lanczos.Settings.
	Tolerance float64 `json:"tolerance,omitempty"`
	// Seed of k-means and of the eigenpairs.
	Seed uint64 `json:"seed"`
	// MemoryLimit and OnRestart are handed on to lanczos.Settings.
	MemoryLimit int64                     `json:"-"`
	OnRestart   func(lanczos.State) error `json:"-"`
}

// fill returns s with its defaults, or all faults at once.
func (s Settings) fill() (Settings, error) {
	var faults []error
	if s.Auto && s.Clusters != 0 {
		faults = append(faults, fmt.Errorf("cluster: %d clusters are asked for, and a number to be chosen",
			s.Clusters))
	}
	if !s.Auto && s.Clusters < 1 {
		faults = append(faults, fmt.Errorf("cluster: %d clusters; there must be at least 1", s.Clusters))
	}
	if s.Rule < KMeans || s.Rule > Sweep {
		faults = append(faults, fmt.Errorf("cluster: rule %v", s.Rule))
	} else if s.Rule != KMeans && s.Clusters != 2 {
		faults = append(faults, fmt.Errorf("cluster: the rule %v makes 2 clusters, %d are asked for", s.Rule,
			s.Clusters))
	}

	if s.Rule != KMeans && s.RowNormalize {
		faults = append(faults, fmt.Errorf("cluster: rows are normalized for k-means, the rule is %v",
			s.Rule))
	}
	if s.MinComponent < 0 || s.Restarts < 0 || s.MaxIterations < 0 {
		faults = append(faults, fmt.Errorf("cluster: components of %d points, %d restarts and %d "+
			"iterations; none may be negative", s.MinComponent, s.Restarts, s.MaxIterations))
	}
	for _, v := range []struct {
		field *int
		value int
	}{{&s.MinComponent, 1}, {&s.Restarts, 10}, {&s.MaxIterations, 300}} {
		if *v.field == 0 {
			*v.field = v.value
		}
	}

	return s, errors.Join(faults...)
}

// Unassigned is the cluster of a point that has none.
const Unassigned = int32(-1)

// Clustering is a partition of the vertices of a graph.
type Clustering struct {
	Settings Settings
	// Labels are the clusters of the n vertices, numbered by their smallest
	// vertex; [Unassigned] in components that are too small.
	Labels []int32
	Sizes  []int // vertices in each cluster
	// Values are the smallest eigenvalues of the normalized Laplacian, as many
	// as clusters. Their sum is a lower bound on the normalized cut of any
	// partition into that many clusters.
	Values     []float64
	Choice     *Choice // of the number of clusters, with Settings.Auto
	Cuts       *Cuts
	Components int // number of components with clusters
	LeftOut    int // number of vertices without a cluster
}

// Bound is the lower bound Σ λ_j on the normalized cut; see Values.
func (c *Clustering) Bound() float64 {
	var sum float64
	for _, v := range c.Values {
		sum += v
	}
	return sum
}

// NormalizedCut partitions the graph with weights w along small normalized cuts. It solves
// the relaxation of Shi & Malik (IEEE PAMI 22, 2000), by the first eigenvectors of
// Lf = λDf, and rounds the solution by s.Rule.
//
// Components are never mixed up. The spectrum of a graph is the union of the spectra of its
// components. A component therefore gets a cluster for each of its eigenvalues among the k
// smallest, at least one, and is partitioned by its own eigenvectors. If there are more
// components than clusters, no edge is cut: the components, in descending order of volume,
// each go to the cluster of least volume so far.
//
// With s.Auto the number of clusters is chosen from the first eigenvalues ([Choice]): 32 pairs beside the
// components are computed. It is not less than the number of components that are large enough, nor than 2.
//
// More clusters than vertices is an error. NormalizedCut costs the eigenpairs
// ([lanczos.Laplacian]), and 2nk² operations for every restart and iteration of k-means;
// beside the eigenpairs it holds 2nk values, and copies of the components if there are
// several. An error lanczos.ErrNotConverged comes with the clustering by the vectors that
// were reached. The result has the same bits at any GOMAXPROCS.
func NormalizedCut(ctx context.Context, w *sparse.CSR, s *Settings) (*Clustering, error) {
	if s == nil {
		s = &Settings{}
	}
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}
	if err := w.CheckGraph(); err != nil {
		return nil, err
	}

	parts, leftOut := bigComponents(w, filled.MinComponent)
	if have := w.Rows - leftOut; filled.Clusters > have {
		return nil, fmt.Errorf("cluster: %d clusters of %d vertices in components that are large enough",
			filled.Clusters, have)
	}

	// As many components as clusters, or more, need no eigenvectors: all cuts are zero.
	c := &Clustering{Settings: filled, Labels: slices.Repeat([]int32{Unassigned}, w.Rows),
		Components: len(parts), LeftOut: leftOut}
	var notConverged error
	if !filled.Auto && filled.Clusters <= len(parts) {
		c.Values = make([]float64, filled.Clusters)
		joinParts(c.Labels, parts, filled.Clusters)
	} else if notConverged, err = c.split(ctx, parts); err != nil {
		return nil, err
	}

	k := c.Settings.Clusters
	c.Sizes = numberClusters(c.Labels, k)
	if c.Cuts, err = MeasureCuts(w, c.Labels, k); err != nil {
		return nil, err
	}
	return c, notConverged
}

// split partitions the parts into more clusters than there are parts, or into a number that it chooses.
// notConverged reports eigenpairs that did not converge but are usable; err says that there is no result.
func (c *Clustering) split(ctx context.Context, parts []graphPart) (notConverged, err error) {
	s := &c.Settings
	most := s.Clusters
	if s.Auto {
		have := 0
		for _, p := range parts {
			have += len(p.vertices)
		}
		most = ChoicePairs(have, len(parts))
	}

	// Every part has a null vector, so one part can have at most the rest of the pairs.
	vectors := make([]*mat.Dense, len(parts))
	all := make([]partValue, 0, len(parts))
	for q, p := range parts {
		pairs, err := p.pairs(ctx, most-len(parts)+1, s)
		if errors.Is(err, lanczos.ErrNotConverged) && pairs != nil {
			notConverged = err
		} else if err != nil {
			return nil, err
		}
		vectors[q] = pairs.Vectors
		for j, v := range pairs.Values {
			if j == 0 {
				v = 0 // the null vector of the component
			}
			all = append(all, partValue{v, q, j})
		}
	}

	slices.SortStableFunc(all, func(a, b partValue) int { return cmp.Compare(a.value, b.value) })
	if s.Auto {
		if c.Choice, err = choose(all[:min(most, len(all))], parts, vectors); err != nil {
			return nil, err
		}
		s.Clusters = c.Choice.Clusters
	}
	return notConverged, c.divide(ctx, parts, vectors, all)
}

// divide cuts each part into as many clusters as it has among the smallest values of all parts, and at
// least one.
func (c *Clustering) divide(ctx context.Context, parts []graphPart, vectors []*mat.Dense,
	all []partValue) error {
	s := &c.Settings
	share := make([]int, len(parts))
	for q := range share {
		share[q] = 1 // its null vector, which counts whatever rounding made of the value
	}
	c.Values = make([]float64, len(parts), s.Clusters)
	for _, v := range all[len(parts):] {
		if len(c.Values) < s.Clusters {
			share[v.part]++
			c.Values = append(c.Values, v.value)
		}
	}

	// Clusters of the parts follow one another; numberClusters gives the final numbers.
	first := int32(0)
	for q, p := range parts {
		labels := make([]int32, len(p.vertices))
		if share[q] > 1 {
			var err error
			if labels, err = p.cut(ctx, vectors[q], share[q], s); err != nil {
				return err
			}
		}
		for i, v := range p.vertices {
			c.Labels[v] = first + labels[i]
		}
		first += int32(share[q])
	}
	return nil
}

// partValue is an eigenvalue of a component.
type partValue struct {
	value float64
	part  int
	at    int // the number of the pair in its part
}

// cut partitions a component into k clusters by its eigenvectors D^-½u. It may modify the
// first k of them.
func (p *graphPart) cut(ctx context.Context, vectors *mat.Dense, k int, s *Settings) ([]int32, error) {
	// Two clusters by a threshold of the second eigenvector.
	n := len(p.vertices)
	if s.Rule != KMeans {
		f := mat.Col(nil, 1, vectors)
		dense.Orient(f)
		threshold := tieOf(f) // entries that are zero up to rounding are on one side
		if s.Rule == Sweep {
			threshold = sweep(p.graph, f)
		}
		labels := make([]int32, n)
		for i, v := range f {
			if v > threshold {
				labels[i] = 1
			}
		}
		return labels, nil
	}

	// k-means on the rows of the first k eigenvectors.
	rows := vectors.Slice(0, n, 0, k).(*mat.Dense)
	if s.RowNormalize {
		for i := range n {
			row := rows.RawRowView(i)
			if norm := mat.Norm(mat.NewVecDense(k, row), 2); norm > 0 {
				for j := range row {
					row[j] /= norm
				}
			}
		}
	}

	labels, _, err := kmeans(ctx, rows, kmeansSettings{k, s.Restarts, s.MaxIterations, s.Seed})
	return labels, err
}

// numberClusters numbers k clusters by their smallest vertex and returns their
// sizes.
func numberClusters(labels []int32, k int) []int {
	number := slices.Repeat([]int32{Unassigned}, k)
	sizes := make([]int, k)
	next := int32(0)
	for i, c := range labels {
		if c == Unassigned {
			continue
		}
		if number[c] == Unassigned {
			number[c] = next
			next++
		}
		labels[i] = number[c]
		sizes[number[c]]++
	}

	return sizes
}
