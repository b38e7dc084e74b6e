package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// Cuts measures a partition of a graph into clusters C_1 … C_k. With the degrees
// d_i of the vertices,
//
//	vol(C) = Σ_{i∈C} d_i,  cut(C) = Σ_{i∈C, j∉C} w_ij
//
// (Belkin & Niyogi 2004, section 7.4, where cut(C) is vol(δC)).
type Cuts struct {
	Cut    []float64 `json:"cut"`    // cut(C_c)
	Volume []float64 `json:"volume"` // vol(C_c)
	// NCut is the normalized cut Σ_c cut(C_c)/vol(C_c) of Shi & Malik (2000). For
	// two clusters it is (1/vol(C_1) + 1/vol(C_2))·cut(C_1), the quotient fᵀLf/fᵀDf
	// of the paper's f. The paper prints the reciprocal of the first factor, a misprint.
	NCut float64 `json:"ncut"`
	// Cheeger is max_c cut(C_c)/min(vol(C_c), vol(all) − vol(C_c)). For two clusters
	// it is the quotient of the paper; the Cheeger constant of a graph is the smallest
	// quotient of all partitions.
	Cheeger float64 `json:"cheeger"`
}

// MeasureCuts measures the partition of the vertices of w by labels below k; vertices that
// are [Unassigned] belong to no cluster. A cluster without edges and a cluster of all
// vertices have quotients 0/0, which count as 0. It takes one pass over the graph.
func MeasureCuts(w *sparse.CSR, labels []int32, k int) (*Cuts, error) {
	if len(labels) != w.Rows {
		return nil, fmt.Errorf("cluster: %d labels for %d vertices", len(labels), w.Rows)
	}
	c := &Cuts{Cut: make([]float64, k), Volume: make([]float64, k)}
	var total float64
	for i, own := range labels {
		if own < Unassigned || int(own) >= k {
			return nil, fmt.Errorf("cluster: vertex %d is in cluster %d of %d", i, own, k)
		}

		// A graph without values has weights 1.
		col, val := w.Row(i)
		var degree, outward float64
		for q, j := range col {
			v := 1.0
			if val != nil {
				v = val[q]
			}
			degree += v
			if labels[j] != own {
				outward += v
			}
		}

		total += degree
		if own != Unassigned {
			c.Volume[own] += degree
			c.Cut[own] += outward
		}
	}

	for q, cut := range c.Cut {
		c.NCut += quotient(cut, c.Volume[q])
		c.Cheeger = max(c.Cheeger, quotient(cut, min(c.Volume[q], total-c.Volume[q])))
	}
	return c, nil
}

// quotient returns a/b, and 0 for a = 0 whatever b.
func quotient(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a / b
}

// tieOf returns the difference up to which values of f count as equal.
func tieOf(f []float64) float64 {
	var top float64
	for _, v := range f {
		top = max(top, math.Abs(v))
	}
	return kmeansTie * top
}

// sweep returns the threshold t for which the Cheeger value of the cut between {f ≤ t} and
// {f > t} is smallest. Of thresholds with values equal up to rounding it takes the smallest.
// It costs a sort and one pass over the graph.
func sweep(w *sparse.CSR, f []float64) float64 {
	order := data.Range(0, len(f))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f[a], f[b]) })
	degrees := w.Degrees()
	var total float64
	for _, d := range degrees {
		total += d
	}
	below := make([]bool, len(f))
	var cut, volume, threshold float64

	// Vertices move below the threshold one by one. Each takes the edges to the vertices
	// below out of the cut and puts its other edges in. A threshold between values that
	// rounding could swap is none.
	best := math.Inf(1)
	tie := tieOf(f)
	for at, i := range order[:len(order)-1] {
		below[i] = true
		col, val := w.Row(i)
		for q, j := range col {
			v := 1.0
			if val != nil {
				v = val[q]
			}
			switch {
			case int(j) == i:
			case below[j]:
				cut -= v
			default:
				cut += v
			}
		}

		volume += degrees[i]
		if h := quotient(cut, min(volume, total-volume)); h < best*(1-kmeansTie) &&
			f[order[at+1]] > f[i]+tie {
			best = h
			threshold = f[i]
		}
	}

	return threshold
}
