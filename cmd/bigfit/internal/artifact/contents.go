package artifact

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// models compares two models: their classes, their arrays, and the answers for training
// points where both keep them.
func (d *Difference) models(limit int64) error {
	var answers [2]*columns
	var classes [2]any
	for i, path := range []string{d.A, d.B} {
		m, _, err := all.Load(path, limit)
		if err != nil {
			return err
		}
		// Models that keep the answers for their training points can be compared by them, whatever
		// their arrays are.
		classes[i] = data.ClassList(m.Output().Classes, m.Output().Names)
		if t, ok := m.(models.Trained); ok {
			if p := t.Training(false); p != nil {
				answers[i] = resultColumns(path, pipeline.PredictionAnswers(m, p).Columns)
			}
		}
	}

	d.Classes = classChanges(classes[0], classes[1])
	if answers[0] != nil && answers[1] != nil {
		var err error
		if d.Answers, err = compareAnswers(answers[0], answers[1]); err != nil {
			return err
		}
		// Equal answers are no difference; leaving them out keeps the JSON short.
		if d.Answers.equal() {
			d.Answers = nil
		}
	}

	return d.archives(limit)
}

// archives compares the arrays of two .npz files but for their manifests.
func (d *Difference) archives(limit int64) error {
	a, err := npy.OpenArchive(d.A, limit)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := npy.OpenArchive(d.B, limit)
	if err != nil {
		return err
	}

	defer b.Close()
	// Every name of either file is visited once, in order.
	names := slices.Concat(a.Names(), b.Names())
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name == archive.Name {
			continue
		}
		var x [2]*npy.Array
		var text [2]string
		for i, f := range []*npy.Archive{a, b} {
			if f.Has(name) {
				if x[i], err = f.Read(name); err != nil {
					return err
				}
				text[i] = x[i].String()
			}
		}

		// A missing array, another type and another shape all show in the description.
		if x[0] == nil || x[1] == nil || text[0] != text[1] {
			d.Arrays = append(d.Arrays, Change{name, text[0], text[1]})
			continue
		}
		differ, largest := differences(x[0], x[1])
		if differ > 0 {
			d.Arrays = append(d.Arrays, Change{name, text[0],
				fmt.Sprintf("%d elements differ, by at most %.3g", differ, largest)})
		}
	}

	return nil
}

// differences counts the elements of arrays of one type and shape that differ. Numbers that
// are not finite differ by infinity, as do strings.
func differences(a, b *npy.Array) (n int, largest float64) {
	if x, ok := a.Data.([]string); ok {
		for i, s := range b.Data.([]string) {
			if x[i] != s {
				n += 1
				largest = math.Inf(1)
			}
		}
		return n, largest
	}

	x, errX := a.Float64s()
	y, errY := b.Float64s()
	if errX != nil || errY != nil { // integers beyond 2^53
		// Such integers have no exact float64, so the arrays are compared by their hashes.
		sum := func(d any) string { s, _ := npy.Sum([]archive.Array{{Name: "x", Data: d}}); return s }
		if sum(a.Data) != sum(b.Data) {
			return a.Len(), math.Inf(1)
		}
		return 0, 0
	}

	for i := range x {
		if gap := distance(x[i], y[i]); gap > 0 {
			n++
			largest = max(largest, gap)
		}
	}

	return n, largest
}

// distance is |x−y|, 0 of two NaN.
func distance(x, y float64) float64 {
	switch {
	case x == y || math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Inf(1)
	}
	return math.Abs(x - y)
}

// Graph is the difference of two graphs.
type Graph struct {
	Points [2]int `json:"points"`
	Edges  [2]int `json:"edges"`
	// OnlyA and OnlyB are the edges that one graph has alone.
	OnlyA int `json:"only_a"`
	OnlyB int `json:"only_b"`
	// Weights is the number of shared edges with different weights, and Largest the
	// largest difference of those.
	Weights int     `json:"weights"`
	Largest float64 `json:"largest"`
}

func (g *Graph) equal() bool {
	return g.Points[0] == g.Points[1] && g.OnlyA == 0 && g.OnlyB == 0 && g.Weights == 0
}

func (g *Graph) String() string {
	if g.equal() {
		return ""
	}
	if g.Points[0] != g.Points[1] {
		return fmt.Sprintf("  points: %d | %d\n  edges: %d | %d\n", g.Points[0], g.Points[1], g.Edges[0],
			g.Edges[1])
	}
	return fmt.Sprintf("  edges: %d | %d; %d in the first only, %d in the second only\n  weights: %d "+
		"of the shared edges differ, by at most %.6g\n",
		g.Edges[0], g.Edges[1], g.OnlyA, g.OnlyB, g.Weights, g.Largest)
}

// graphs compares the edges of two graphs.
func (d *Difference) graphs(limit int64) error {
	a, err := sparse.Read(d.A, limit)
	if err != nil {
		return err
	}
	b, err := sparse.Read(d.B, limit)
	if err != nil {
		return err
	}
	g := &Graph{Points: [2]int{a.Rows, b.Rows}, Edges: [2]int{a.NNZ() / 2, b.NNZ() / 2}}
	d.Graph = g
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return nil
	}

	// A matrix without stored values has weight 1 everywhere.
	weight := func(w *sparse.CSR, p int64) float64 {
		if w.Val == nil {
			return 1
		}
		return w.Val[p]
	}
	for i := range a.Rows {
		// Columns ascend in each row, so one merge of the two rows finds shared and single edges.
		p := a.Ptr[i]
		q := b.Ptr[i]
		for p < a.Ptr[i+1] || q < b.Ptr[i+1] {
			switch {
			case q == b.Ptr[i+1] || p < a.Ptr[i+1] && a.Col[p] < b.Col[q]:
				if int(a.Col[p]) >= i { // an edge is stored in both of its rows
					g.OnlyA++
				}
				p++
			case p == a.Ptr[i+1] || b.Col[q] < a.Col[p]:
				if int(b.Col[q]) >= i {
					g.OnlyB++
				}
				q++
			default:
				if gap := distance(weight(a, p), weight(b, q)); gap > 0 && int(a.Col[p]) >= i {
					g.Weights++
					g.Largest = max(g.Largest, gap)
				}
				p += 1
				q += 1
			}
		}
	}

	return nil
}

// Eigs is the difference of two files of eigenpairs.
type Eigs struct {
	Points [2]int `json:"points"`
	Pairs  [2]int `json:"pairs"`
	// Largest is the largest difference of the values that both have.
	Largest float64 `json:"largest"`
	// Angle is the largest principal angle, in radians, between the spaces that the
	// vectors of the pairs that both have span; 0 where the vectors are the same.
	Angle float64 `json:"angle"`
}

func (e *Eigs) equal() bool {
	return e.Points[0] == e.Points[1] && e.Pairs[0] == e.Pairs[1] && e.Largest == 0 && e.Angle == 0
}

func (e *Eigs) String() string {
	if e.equal() {
		return ""
	}
	text := fmt.Sprintf("  points: %d | %d\n  pairs: %d | %d\n", e.Points[0], e.Points[1], e.Pairs[0],
		e.Pairs[1])
	if e.Points[0] == e.Points[1] {
		text += fmt.Sprintf("  values: differ by at most %.3g\n  vectors: the largest angle between "+
			"the spaces is %.3g\n", e.Largest, e.Angle)
	}
	return text
}

// eigenpairs compares values, and the spaces of the vectors: a single vector may differ by
// a sign, and the vectors of a multiple value are any basis of its eigenspace.
func (d *Difference) eigenpairs(limit int64) error {
	a, err := lanczos.Load(d.A, limit)
	if err != nil {
		return err
	}
	b, err := lanczos.Load(d.B, limit)
	if err != nil {
		return err
	}
	va := a.Result.Vectors
	vb := b.Result.Vectors
	e := &Eigs{}
	e.Points[0], e.Pairs[0] = va.Dims()
	e.Points[1], e.Pairs[1] = vb.Dims()
	d.Eigs = e
	// Of different numbers of pairs the leading ones are compared.
	k := min(e.Pairs[0], e.Pairs[1])
	for j := range k {
		e.Largest = max(e.Largest, distance(a.Result.Values[j], b.Result.Values[j]))
	}
	if e.Points[0] != e.Points[1] {
		return nil
	}

	// Equal bits need no decomposition, whose rounding would show as a tiny angle.
	n := e.Points[0]
	first := mat.DenseCopyOf(va.Slice(0, n, 0, k))
	second := mat.DenseCopyOf(vb.Slice(0, n, 0, k))
	if mat.Equal(first, second) {
		return nil
	}
	e.Angle, err = angle(first, second)
	return err
}

// angle returns the largest principal angle between the spaces of the columns of two
// matrices, which it overwrites. Its sine is the largest singular value of Q₂ − Q₁Q₁ᵀQ₂
// (Björck, Golub, Math. Comp. 27 (1973), 579–594). The sine resolves small angles, whose cosine
// rounds to 1.
func angle(a, b *mat.Dense) (float64, error) {
	for _, x := range []*mat.Dense{a, b} {
		if _, _, err := dense.CholQR(x); err != nil {
			return 0, err
		}
	}

	// b becomes Q₂ − Q₁(Q₁ᵀQ₂), the part of the second space outside the first. The R of its QR
	// has the same singular values and is k×k only.
	_, k := a.Dims()
	c := mat.NewDense(k, k, nil)
	dense.Gemm(true, false, 1, a, b, 0, c)
	dense.Gemm(false, false, -1, a, c, 1, b)
	r, _, err := dense.CholQR(b)
	if err != nil {
		return 0, err
	}
	var svd mat.SVD
	if !svd.Factorize(r, mat.SVDNone) {
		return 0, fmt.Errorf("the angle between the spaces cannot be computed: %w", dense.ErrNoConvergence)
	}
	return math.Asin(min(1, svd.Values(nil)[0])), nil
}

// list writes at most n texts.
func list(texts []string, n int) string {
	if len(texts) > n {
		return strings.Join(texts[:n], ", ") + ", …"
	}
	return strings.Join(texts, ", ")
}
