package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// SSSLResult is one cell of the tables 2 to 4 of Ji et al. 2012: the mean squared
// error on the test points.
type SSSLResult struct {
	Set     string  `json:"set"`
	Percent int     `json:"percent"` // of the points that are labeled
	Method  string  `json:"method"`
	Mean    float64 `json:"error_mean"`
	Std     float64 `json:"error_std"` // of one draw, over the draws
	Paper   Number  `json:"paper"`
}

// SSSLTables are the results with one line about each set.
type SSSLTables struct {
	Results []SSSLResult `json:"results"`
	Notes   []string     `json:"notes"`
}

// Markdown writes a table for each set: one line a share of labels, one column a
// method, "mean ± std" with the paper's figure in brackets behind it.
func (t *SSSLTables) Markdown() string {
	var b strings.Builder
	set, row := "", 0
	for _, r := range t.Results {
		if r.Set != set {
			if set != "" {
				b.WriteString("\n\n")
			}
			fmt.Fprintf(&b, "| %s, squared error |", r.Set)
			for _, m := range ssslMethods {
				b.WriteString(" " + m + " |")
			}
			b.WriteString("\n|---|" + strings.Repeat("---|", len(ssslMethods)))
			set, row = r.Set, 0
		}
		if r.Percent != row {
			fmt.Fprintf(&b, "\n| %d %% |", r.Percent)
			row = r.Percent
		}
		fmt.Fprintf(&b, " %.4g ± %.2g", r.Mean, r.Std)
		if !math.IsNaN(float64(r.Paper)) {
			fmt.Fprintf(&b, " (%g)", float64(r.Paper))
		}
		b.WriteString(" |")
	}
	b.WriteString("\n\n")
	for _, n := range t.Notes {
		b.WriteString("* " + n + "\n")
	}
	return b.String()
}

var ssslMethods = []string{"KRR", "SVR", "LapRLS", "SSSL"}

// ssslPaper are the papers' means at 2, 3, …, 9 % of labels, in the order of
// ssslMethods.
var ssslPaper = map[string][4][8]float64{
	"insurance": {
		{0.0804, 0.0778, 0.0779, 0.0747, 0.0739, 0.0711, 0.0672, 0.0675},
		{0.0546, 0.0546, 0.0546, 0.0549, 0.0550, 0.0548, 0.0549, 0.0550},
		{0.0550, 0.0563, 0.0580, 0.0559, 0.0564, 0.0547, 0.0538, 0.0543},
		{0.0544, 0.0527, 0.0527, 0.0526, 0.0523, 0.0518, 0.0518, 0.0517},
	},
	"wine": {
		{0.931, 0.927, 0.799, 0.759, 0.714, 0.681, 0.650, 0.668},
		{0.669, 0.642, 0.656, 0.613, 0.613, 0.606, 0.600, 0.592},
		{0.682, 0.653, 0.650, 0.613, 0.611, 0.597, 0.592, 0.580},
		{0.612, 0.606, 0.599, 0.593, 0.587, 0.582, 0.584, 0.581},
	},
}

// ssslSet is a set with the values of all points.
type ssslSet struct {
	name   string
	x      data.Points
	values []float64
}

const (
	ssslDraws     = 10
	ssslLandmarks = 600 // of LapRLS and SSSL
	ssslNeighbors = 10
)

// What cross-validation chooses from: the width of the Gaussian kernel in medians
// of the distances, and the weights of the norms.
var (
	ssslWidths = []float64{1, 2, 4}
	ssslGammaA = []float64{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}
	ssslSVR    = []float64{1e-2, 1e-3, 1e-4}
	ssslGammaI = []float64{1e-3, 1e-1, 10}
)

// SSSL repeats section 2.2 of Ji et al. 2012: 2 to 9 % of the points labeled, 90 %
// for training and 10 % to test on, ten draws, Gaussian kernels. The paper names
// neither scaling nor grids. Here columns are scaled to variance 1 over the training
// points (not those on the sphere), everything is chosen by the same fivefold
// cross-validation on the labels, and every method has a constant without penalty:
// the width of the kernel among 1, 2 and 4 medians of the distances, γ_A and, of
// LapRLS, γ_I, with the normalized Laplacian of 10 neighbours, or the number of
// eigenfunctions. The eigenfunctions and LapRLS are on 600 landmarks. The field on
// the sphere is of [data.Climate] in place of the measured one.
func SSSL(ctx context.Context, o Options, obs Observer) (*SSSLTables, error) {
	obs.Begin("data")
	sets, err := ssslSets(o)
	if err != nil {
		return nil, err
	}
	obs.End(fmt.Sprintf("%d sets", len(sets)))
	out := &SSSLTables{}
	for _, s := range sets {
		obs.Begin(s.name)
		errs := map[[2]int][]float64{}
		for draw := range ssslDraws {
			d, err := s.draw(ctx, o.Seed+uint64(draw))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			for p := range 8 {
				e, err := d.errors(ctx, p+2)
				if err != nil {
					return nil, fmt.Errorf("%s, %d %%: %w", s.name, p+2, err)
				}
				for m, v := range e {
					errs[[2]int{p, m}] = append(errs[[2]int{p, m}], v)
				}
				obs.Update(float64(8*draw+p+1), 8*ssslDraws, fmt.Sprintf("draw %d", draw+1))
			}
			if draw == 0 {
				out.Notes = append(out.Notes, s.name+": "+d.describe())
			}
		}
		for p := range 8 {
			for m, name := range ssslMethods {
				r := SSSLResult{Set: s.name, Percent: p + 2, Method: name, Paper: Number(math.NaN())}
				if paper, ok := ssslPaper[s.name]; ok {
					r.Paper = Number(paper[m][p])
				}
				r.Mean, r.Std = meanStd(errs[[2]int{p, m}])
				out.Results = append(out.Results, r)
			}
		}
		obs.End(fmt.Sprintf("%d draws", ssslDraws))
	}
	return out, nil
}

const ssslOrigin = `the wine quality (white) and the insurance (CoIL 2000) data are in the UCI Machine Learning Repository; save the features as array X and the quality, or whether there is a caravan policy, as y, and give their folder with --data`

func ssslSets(o Options) ([]ssslSet, error) {
	var sets []ssslSet
	for _, f := range []struct{ name, file string }{{"wine", "wine_white.npz"}, {"insurance", "insurance_coil2000.npz"}} {
		if _, err := find(o.Dir, ssslOrigin, f.file); err != nil {
			return nil, err
		}
		x, y, err := read(filepath.Join(o.Dir, f.file), filepath.Join(o.Dir, f.file), o.Limit)
		if err != nil {
			return nil, err
		}
		values := make([]float64, y.Len())
		for i, c := range y.Index {
			values[i] = float64(y.Classes[c])
		}
		sets = append(sets, ssslSet{f.name, x, values})
	}
	x, values := data.Climate(66, 144, 1, 0.5, o.Seed)
	return append(sets, ssslSet{"sphere", x, values}), nil
}

// ssslDraw is a split of a set, with what does not depend on the labels.
type ssslDraw struct {
	n           int // of the whole set
	train, test *data.Dense[float64]
	y, want     []float64
	seed        uint64
	widths      []float64
	laplacian   *sparse.Laplacian
	problems    []*models.ScaledProblem // of each width
	functions   []*models.Eigenfunctions
	at          []*mat.Dense // of the functions at the training points
}

// draw splits a set; the labeled points are the first of train.
func (s *ssslSet) draw(ctx context.Context, seed uint64) (*ssslDraw, error) {
	n, d := s.x.Dims()
	order := rand.New(rand.NewPCG(seed, 0x6a69)).Perm(n) // "ji"
	take := func(rows []int) (*data.Dense[float64], []float64) {
		x, y := data.NewDense[float64](len(rows), d), make([]float64, len(rows))
		for p, i := range rows {
			data.RowTo(x.Row(p), s.x, i)
			y[p] = s.values[i]
		}
		return x, y
	}
	out := &ssslDraw{n: n, seed: seed}
	cut := n - n/10
	out.train, out.y = take(order[:cut])
	out.test, out.want = take(order[cut:])
	if s.name != "sphere" {
		standardize(out.train, out.test)
	}
	sigma, err := kernel.Width(out.train, kernel.Median, seed)
	if err != nil {
		return nil, err
	}
	nb, err := neighbors(ctx, out.train, ssslNeighbors)
	if err != nil {
		return nil, err
	}
	if out.laplacian, err = laplacian(nb, knn.GraphSettings{K: ssslNeighbors}, sparse.Normalized); err != nil {
		return nil, err
	}
	for _, w := range ssslWidths {
		k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: w * sigma}
		out.widths = append(out.widths, k.Sigma)
		p, err := models.NewScaledProblem(ctx, out.train, k, out.laplacian, 1, &models.ScaleSettings{Landmarks: ssslLandmarks, Seed: seed}, 0)
		if err != nil {
			return nil, err
		}
		e, err := models.NewEigenfunctions(ctx, out.train, k, 200, ssslLandmarks, seed, 0)
		if err != nil {
			return nil, err
		}
		at, err := e.At(ctx, out.train)
		if err != nil {
			return nil, err
		}
		out.problems, out.functions, out.at = append(out.problems, p), append(out.functions, e), append(out.at, at)
	}
	return out, nil
}

// standardize scales the columns of both to mean 0 and variance 1 over train.
func standardize(train, test *data.Dense[float64]) {
	for j := range train.Cols {
		column := make([]float64, train.Rows)
		for i := range column {
			column[i] = train.Row(i)[j]
		}
		mean, std := meanStd(column)
		if std == 0 {
			std = 1
		}
		for _, x := range []*data.Dense[float64]{train, test} {
			for i := range x.Rows {
				x.Row(i)[j] = (x.Row(i)[j] - mean) / std
			}
		}
	}
}

// describe says how the eigenvalues of each width decay.
func (d *ssslDraw) describe() string {
	var parts []string
	for i, e := range d.functions {
		_, p := models.PowerLaw(e.Values)
		parts = append(parts, fmt.Sprintf("σ = %.3g: %d eigenfunctions capture %.4f of the trace, λ_k ~ k^-%.1f", d.widths[i], len(e.Values), e.Captured(len(e.Values)), p))
	}
	return strings.Join(parts, "; ")
}

// errors are the test errors of the methods, in the order of ssslMethods.
func (d *ssslDraw) errors(ctx context.Context, percent int) ([4]float64, error) {
	var out [4]float64
	l := d.n * percent / 100
	y := mat.NewDense(len(d.y), 1, slices.Repeat([]float64{math.NaN()}, len(d.y)))
	for i := range l {
		y.Set(i, 0, d.y[i])
	}
	t, err := models.ValueTargets(y)
	if err != nil {
		return out, err
	}
	for m, fit := range []func(context.Context, *models.Targets) (models.Model, error){
		func(ctx context.Context, t *models.Targets) (models.Model, error) {
			return d.tuned(ctx, t, models.KernelRLS, ssslGammaA)
		},
		func(ctx context.Context, t *models.Targets) (models.Model, error) {
			return d.tuned(ctx, t, models.KernelSVR, ssslSVR)
		},
		d.lapRLS, d.sssl,
	} {
		model, err := fit(ctx, t)
		if err != nil {
			return out, fmt.Errorf("%s: %w", ssslMethods[m], err)
		}
		p, err := model.Predict(ctx, d.test, nil)
		if err != nil {
			return out, err
		}
		for i, want := range d.want {
			out[m] += (p.Scores.At(i, 0) - want) * (p.Scores.At(i, 0) - want) / float64(len(d.want))
		}
	}
	return out, nil
}

// tuned is a machine of the labeled points alone.
func (d *ssslDraw) tuned(ctx context.Context, t *models.Targets, method models.KernelMethod, gammaA []float64) (models.Model, error) {
	l := len(t.Labeled)
	x := data.Select(d.train, t.Labeled)
	own, err := models.ValueTargets(t.Y)
	if err != nil {
		return nil, err
	}
	s := &models.KernelSettings{Method: method, Intercept: true, Tolerance: 1e-3, Regularizer: models.Regularizer{GammaA: 1}}
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: d.widths[0]}
	r, err := models.Tune(ctx, &models.TuneData{Targets: own, Points: x},
		&models.TuneGrid{Kernel: s, KernelFunction: k, GammaA: gammaA, Sigma: d.widths}, &models.TuneSettings{Folds: min(5, l), Seed: d.seed})
	if r == nil || err != nil && !unfinished(err) {
		return nil, err
	}
	s.GammaA, k.Sigma = r.Best().GammaA, r.Best().Sigma
	m, err := models.FitKernel(ctx, x, k, nil, own, s, 0)
	if m == nil || err != nil && !unfinished(err) {
		return nil, err
	}
	return m, nil
}

// unfinished tells whether err comes with a usable model.
func unfinished(err error) bool {
	return errors.Is(err, solvers.ErrNotConverged) || errors.Is(err, cg.ErrNotConverged)
}

// lapRLS is Laplacian regularized least squares on landmarks.
func (d *ssslDraw) lapRLS(ctx context.Context, t *models.Targets) (models.Model, error) {
	var grid []models.KernelSettings
	for _, a := range ssslGammaA {
		for _, i := range ssslGammaI {
			grid = append(grid, models.KernelSettings{Intercept: true, Regularizer: models.Regularizer{GammaA: a, GammaI: a * i, Laplacian: sparse.Normalized}})
		}
	}
	folds, err := t.Folds(5, d.seed)
	if err != nil {
		return nil, err
	}
	best, least := [2]int{}, math.Inf(1)
	for w, p := range d.problems {
		risk := make([]float64, len(grid))
		for _, held := range folds {
			var kept, points []int
			for q, i := range t.Labeled {
				if _, out := slices.BinarySearch(held, q); out {
					points = append(points, i)
				} else {
					kept = append(kept, q)
				}
			}
			fits, err := p.Path(ctx, t.Keep(kept), grid)
			if err != nil {
				return nil, err
			}
			x := data.Select(d.train, points)
			for g, m := range fits {
				a, err := m.Predict(ctx, x, nil)
				if err != nil {
					return nil, err
				}
				for i, q := range held {
					e := a.Scores.At(i, 0) - t.Y.At(q, 0)
					risk[g] += e * e
				}
			}
		}
		for g, v := range risk {
			if v < least {
				best, least = [2]int{w, g}, v
			}
		}
	}
	fits, err := d.problems[best[0]].Path(ctx, t, grid[best[1]:best[1]+1])
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// sssl is the model of the width with the smallest error of cross-validation.
func (d *ssslDraw) sssl(_ context.Context, t *models.Targets) (models.Model, error) {
	var best *models.SSSL
	for w, e := range d.functions {
		_, s := d.at[w].Dims()
		at := mat.DenseCopyOf(d.at[w].Slice(0, len(t.Labeled), 0, s))
		m, err := e.Fit(t, at, &models.SSSLSettings{Intercept: true, Landmarks: ssslLandmarks, Seed: d.seed})
		if err != nil {
			return nil, err
		}
		if best == nil || slices.Min(m.Risk) < slices.Min(best.Risk) {
			best = m
		}
	}
	return best, nil
}
