package figures

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/sssl"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/stage"
)

const (
	// decayCount is the number of eigenvalues that are computed.
	decayCount = 200
	// paperPower is the exponent p of the curve in Figure 1 of Ji et al. (2012).
	paperPower = 2.1
)

// decayShown are the numbers of the eigenvalues that are printed; the figure has all.
var decayShown = []int{1, 2, 5, 10, 20, 50, 100, 200}

// decayWidths are the widths of the kernel, in median distances. [sssl.SSSL] chooses among
// the same widths.
var decayWidths = []float64{1, 2}

// Decay repeats Figure 1 of Ji et al. (2012): the eigenvalues λ_k of the integral operator
// of a Gaussian kernel over all points of insurance and wine. Two curves stand beside them:
// the power law a²k^(−p) fitted to the eigenvalues, and the paper's curve with p = 2.1. Its
// a² is the smallest with λ_k ≤ a²k^(−p) for all k, as assumption A1 demands. The eigenvalues
// are exact. The paper names neither the kernel nor the scaling: here ranks replace the
// values of the columns, and σ is the median distance or twice the median distance.
func Decay(ctx context.Context, o papers.Options, obs stage.Observer) (*results.Table,
	[]results.Picture, error) {
	t := decayTable()
	for _, set := range []struct{ name, file string }{{"wine", "wine_white.npz"},
		{"insurance", "insurance_coil2000.npz"}} {
		x, _, _, err := papers.ReadSet(o, sssl.Origin, set.file, set.file, "")
		if err != nil {
			return nil, nil, err
		}
		n, d := x.Dims()
		// Rank works in place, on a copy of the points. There are no test points.
		ranked := data.NewDense[float64](n, d)
		for i := range n {
			data.RowTo(ranked.Row(i), x, i)
		}
		sssl.Rank(ranked, data.NewDense[float64](0, d))
		median, err := kernel.Width(ranked, kernel.Median, o.Seed)
		if err != nil {
			return nil, nil, err
		}

		for _, width := range decayWidths {
			name := fmt.Sprintf("%s, σ = %.3g", set.name, width*median)
			obs.Begin(name)
			k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: width * median}
			f, err := eigenfunction.New(ctx, kernel.Source{Kernel: k, Points: ranked},
				&eigenfunction.FunctionSettings{Count: min(decayCount, n), Seed: o.Seed,
					Limits: eigenfunction.Limits{Memory: o.Limit, Progress: obs.Update}})
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			addDecay(t, name, n, f)
			obs.End(fmt.Sprintf("%d points × %d, %d eigenvalues", n, d, len(f.Values)))
		}
	}

	return t, nil, nil
}

// decayTable returns the table of [Decay], without records: one for each number k and curve.
func decayTable() *results.Table {
	return &results.Table{
		Columns: []results.Column{
			{Key: "set"},
			{Key: "curve"},
			{Key: "k", Name: "k", Kind: results.Integers},
			{Key: "value", Name: "λ_k", Kind: results.Numbers, Format: results.Format{Number: "%.3g"}},
			{Key: "printed", PrintOnly: true}, // the set, of numbers that are printed
		},
		Figures: []results.Figure{{Title: "Eigenvalues of the kernel, ", Each: "set", X: "k", By: "curve",
			Value: "value", LogX: true, LogY: true,
			Caption: "Figure 1 of Ji et al. (2012). The paper's curve is drawn as a bound: the " +
				"smallest a²k^(−2.1) that no eigenvalue is above."}},
		Notes: []string{
			"departures: the paper names neither the kernel nor the scaling of the columns; here the " +
				"kernel is Gaussian, columns are replaced by their ranks, and σ is the median " +
				"distance or twice that",
			"the paper prints no numbers; it says that the power is above 2, which assumption A1 " +
				"asks for, and draws p = 2.1",
		},
	}
}

// addDecay adds the eigenvalues of a set of n points, both curves and a note.
func addDecay(t *results.Table, set string, n int, f *eigenfunction.Functions) {
	a2, p := eigenfunction.PowerLaw(f.Values)
	// The smallest a² such that no eigenvalue is above the paper's curve.
	bound, at := eigenfunction.PowerBound(f.Values, paperPower)
	fitted := fmt.Sprintf("fitted %.3g·k^−%.2f", a2, p)
	for k, v := range f.Values {
		printed := ""
		if slices.Contains(decayShown, k+1) {
			printed = set
		}
		for _, c := range []struct {
			name  string
			value float64
		}{{"eigenvalues", v}, {fitted, a2 * math.Pow(float64(k+1), -p)}, {fmt.Sprintf("paper %.3g·k^−%.1f",
			bound, paperPower), bound * math.Pow(float64(k+1), -paperPower)}} {
			t.Add(results.Text(set), results.Text(c.name), results.Integer(k+1), results.Number(c.value),
				results.Text(printed))
		}
	}

	t.Views = append(t.Views, results.View{Caption: set, Where: results.Where{Key: "printed", Is: set},
		Rows: "k", Across: "curve", Show: []string{"value"}, Corner: "k"})
	// A1 asks for a bound of a power above 2, and a fitted power is none.
	about := fmt.Sprintf("%s: the fitted power is %.3f; as a bound, which assumption A1 asks for, a²k^(−%.1f) needs a² = "+
		"%.3g, which is reached at k = %d of %d", set, p, paperPower, bound, at, len(f.Values))
	if at == len(f.Values) {
		about += ", the last one, so that more eigenvalues may need a larger a²"
	}
	about += fmt.Sprintf("; the %d eigenvalues have %.4f of the trace", len(f.Values), f.Captured(len(f.Values)))
	if len(f.Values) < min(decayCount, n) {
		about += fmt.Sprintf("; %d were asked for, and no others are above the cut, 1e-9 of the largest",
			min(decayCount, n))
	} else {
		about += fmt.Sprintf("; all are above the cut, 1e-9 of the largest, the last is %.1e of it",
			f.Values[len(f.Values)-1]/f.Values[0])
	}
	t.Notes = append(t.Notes, about)
}
