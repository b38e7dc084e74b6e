package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// Gap is the gap behind the eigenvalues of a number of clusters.
type Gap struct {
	Clusters int     `json:"clusters"`
	Value    float64 `json:"gap"`   // λ_{k+1} − λ_k for k clusters
	Error    float64 `json:"error"` // its standard error
}

// Choice is a number of clusters that was chosen by the largest gap, and the gaps that it was chosen from.
//
// The eigengap heuristic takes the k for which λ_{k+1} − λ_k is largest, λ_1 ≤ λ_2 ≤ … the eigenvalues of
// the normalized Laplacian (von Luxburg, A tutorial on spectral clustering, Statistics and Computing 17,
// 2007, section 8.3): k clusters that are hardly joined have k eigenvalues near 0, and the larger the gap
// behind them, the less the space of the first k eigenvectors changes with the graph (section 7).
//
// The standard error of a gap comes from a bootstrap of the edges, to first order. If each edge e = (i, j)
// of weight w_e gets an independent random factor of mean 1 and variance 1, as in the Bayesian bootstrap
// (Rubin, Annals of Statistics 9, 1981), the eigenvalue λ of Lf = λDf with fᵀDf = 1 changes by
// Σ_e (ξ_e − 1) w_e c_e with c_e = (f_i − f_j)² − λ(f_i² + f_j²), so that the gap between λ and λ' has the
// variance Σ_e w_e²(c'_e − c_e)². The edges of a graph of neighbours are not independent, so the true
// error may be larger.
type Choice struct {
	Gap
	RunnerUp Gap `json:"runner_up"` // the next largest gap; 0 clusters without
	// First is λ_2 − λ_1: the gap that speaks for no division at all. It is not chosen.
	First Gap `json:"no_division"`
	// Warnings say why the number may be another one.
	Warnings []string `json:"warnings,omitempty"`
}

// String describes the choice in one line.
func (c *Choice) String() string {
	text := fmt.Sprintf("%d clusters by the eigengap %.4g ± %.2g", c.Clusters, c.Value, c.Error)
	if c.RunnerUp.Clusters > 0 {
		text += fmt.Sprintf("; the runner-up is %d with %.4g ± %.2g", c.RunnerUp.Clusters, c.RunnerUp.Value,
			c.RunnerUp.Error)
	}
	return text
}

// mostChosen is the number of candidates. The gaps of larger numbers of clusters are small beside their
// errors in graphs of neighbours, and each costs an eigenpair.
const mostChosen = 32

// ChoicePairs returns the number of eigenpairs that [NormalizedCut] computes to choose the number of
// clusters of a graph with so many vertices and components that count.
func ChoicePairs(vertices, components int) int { return min(vertices, max(components, 1)+mostChosen) }

// significant is the number of standard errors by which two gaps must differ, so that the order is not
// chance: 95 % of one comparison.
const significant = 2

// choose returns the number of clusters by the largest gap between the values of all parts, ascending. The
// vectors belong to pairs of the parts, the number of a value among them counts.
func choose(all []partValue, parts []graphPart, vectors []*mat.Dense) (*Choice, error) {
	least := max(2, len(parts))
	if len(all) <= least {
		return nil, fmt.Errorf("cluster: %d eigenvalues leave no gap to choose the number of clusters by; name "+
			"the number", len(all))
	}
	gap := func(k int) Gap {
		return Gap{k, all[k].value - all[k-1].value, gapError(all[k-1], all[k], parts, vectors)}
	}
	var gaps []Gap
	for k := least; k < len(all); k++ {
		gaps = append(gaps, gap(k))
	}

	c := &Choice{First: gap(1)}
	last := gaps[len(gaps)-1].Clusters
	slices.SortStableFunc(gaps, func(a, b Gap) int { return cmp.Compare(b.Value, a.Value) })
	c.Gap = gaps[0]
	if len(gaps) > 1 {
		c.RunnerUp = gaps[1]
	}
	c.warn(all[c.Clusters-1].value, last, len(parts))
	return c, nil
}

// warn notes why the largest gap may not tell the number. before is the eigenvalue before the gap, and last
// is the largest candidate.
func (c *Choice) warn(before float64, last, parts int) {
	if r := c.RunnerUp; r.Clusters > 0 && c.Value-r.Value <= significant*math.Hypot(c.Error, r.Error) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the gaps of %d and of %d clusters are too close to tell "+
			"apart: %.4g ± %.2g and %.4g ± %.2g", c.Clusters, r.Clusters, c.Value, c.Error, r.Value, r.Error))
	}
	if f := c.First; parts == 1 && f.Value >= c.Value {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the graph may have no clusters: the gap before the second "+
			"eigenvalue is %.4g, larger than the gap of %d clusters, %.4g", f.Value, c.Clusters, c.Value))
	}
	if before > c.Value {
		c.Warnings = append(c.Warnings, fmt.Sprintf("eigenvalue %d is %.4g, larger than the gap behind it, %.4g: "+
			"clusters that stand out have eigenvalues near 0", c.Clusters, before, c.Value))
	}
	if c.Clusters == last && last > parts+1 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the largest gap stands behind the largest number of clusters that was tried, %d: "+
			"the eigenvalues show no clear number of clusters", last))
	}
}

// gapError returns the standard error of the gap between two eigenvalues.
func gapError(a, b partValue, parts []graphPart, vectors []*mat.Dense) float64 {
	if a.part != b.part {
		return math.Hypot(a.error(parts, vectors), b.error(parts, vectors))
	}
	f := mat.Col(nil, a.at, vectors[a.part])
	g := mat.Col(nil, b.at, vectors[b.part])
	return errorOf(parts[a.part].graph, func(i, j int) float64 {
		return b.change(g, i, j) - a.change(f, i, j)
	})
}

// error returns the standard error of an eigenvalue.
func (v partValue) error(parts []graphPart, vectors []*mat.Dense) float64 {
	f := mat.Col(nil, v.at, vectors[v.part])
	return errorOf(parts[v.part].graph, func(i, j int) float64 { return v.change(f, i, j) })
}

// change returns the derivative of the eigenvalue with vector f by the weight of the edge (i, j).
func (v partValue) change(f []float64, i, j int) float64 {
	d := f[i] - f[j]
	return d*d - v.value*(f[i]*f[i]+f[j]*f[j])
}

// errorOf returns the root of Σ_e w_e²·change_e² over the edges of a graph.
func errorOf(w *sparse.CSR, change func(i, j int) float64) float64 {
	sum := 0.0
	for i := range w.Rows {
		col, val := w.Row(i)
		for p, j := range col {
			if int(j) >= i {
				break
			}
			weight := 1.0
			if val != nil {
				weight = val[p]
			}
			c := weight * change(i, int(j))
			sum += c * c
		}
	}
	return math.Sqrt(sum)
}
