package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/sparse"
)

// spectralProblem returns two moons and the Laplacian of their graph.
func spectralProblem(t *testing.T, n, k int, kind sparse.Kind) (*data.Dense[float64], *sparse.Laplacian, *data.Labels) {
	t.Helper()
	x, y := synthetic.TwoMoons(n, 0.05, 3)
	return x, spectralLaplacian(t, x, k, kind), y
}

func spectralLaplacian(t *testing.T, x data.Points, k int, kind sparse.Kind) *sparse.Laplacian {
	t.Helper()
	ix, err := knn.NewIndex(x, knn.Brute, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(context.Background(), ix, knn.GraphSettings{K: k})
	if err != nil {
		t.Fatal(err)
	}
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func spectral(t *testing.T, x data.Points, k kernel.Kernel, l *sparse.Laplacian, s SpectralSettings) *Spectral {
	t.Helper()
	m, err := FitSpectral(context.Background(), &kernelmachine.Data{Points: x, Kernel: k, Laplacian: l}, &s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Equation (14) as it stands, by gonum's general eigensolver on a basis of the
// complement of K1, with a kernel whose square is far from singular.
func TestEquation14(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		for _, power := range []int{1, 2} {
			const n, p, gamma = 40, 5, 0.03
			x, l, _ := spectralProblem(t, n, 5, kind)
			l = l.With(power, 0)
			k := kernel.Kernel{Kind: kernel.Laplace, Sigma: 0.3}
			m := spectral(t, x, k, l, SpectralSettings{Gamma: gamma, Components: p})
			gram, err := kernel.Gram(x, k, 0)
			if err != nil {
				t.Fatal(err)
			}
			var lk, klk, k2, k1, left mat.Dense
			lk.ReuseAs(n, n)
			l.MulTo(&lk, gram)
			klk.Mul(gram, &lk)
			k2.Mul(gram, gram)
			left.Scale(gamma, gram)
			left.Add(&left, &klk)
			ones := mat.NewDense(n, 1, slices.Repeat([]float64{1}, n))
			k1.Mul(gram, ones)
			var qr mat.QR
			qr.Factorize(&k1)
			var q mat.Dense
			qr.QTo(&q)
			b := q.Slice(0, n, 1, n)
			var a14, b14, tmp, g mat.Dense
			tmp.Mul(&left, b)
			a14.Mul(b.T(), &tmp)
			tmp.Mul(&k2, b)
			b14.Mul(b.T(), &tmp)
			if err := g.Solve(&b14, &a14); err != nil {
				t.Fatal(err)
			}
			var eig mat.Eigen
			if !eig.Factorize(&g, mat.EigenRight) {
				t.Fatal("no eigenvalues")
			}
			var want []float64
			for _, v := range eig.Values(nil) {
				want = append(want, real(v))
			}
			slices.Sort(want)
			for j := range p {
				if !(math.Abs(m.Values[j]-want[j]) <= 1e-7*want[j]) {
					t.Errorf("%v^%d: λ_%d = %v, want %v", kind, power, j, m.Values[j], want[j])
				}
			}
			// P(γK + KLK)Pα = λPK²Pα with Pα = α.
			alpha := m.Coefficients
			var r1, r2, sum, gramF mat.Dense
			r1.Mul(&left, alpha)
			r2.Mul(&k2, alpha)
			sum.Mul(k1.T(), alpha)
			norm := mat.Norm(&k1, 2)
			for j := range p {
				if !(math.Abs(sum.At(0, j)) <= 1e-9) {
					t.Errorf("Σf_%d = %v", j, sum.At(0, j))
				}
				r := mat.NewVecDense(n, nil)
				r.AddScaledVec(r1.ColView(j), -m.Values[j], r2.ColView(j))
				r.AddScaledVec(r, -mat.Dot(r, k1.ColView(0))/norm/norm, k1.ColView(0))
				if !(mat.Norm(r, 2) <= 1e-9*mat.Norm(&left, 2)*mat.Norm(alpha.ColView(j), 2)) {
					t.Errorf("%v^%d: residual %v of pair %d", kind, power, mat.Norm(r, 2), j)
				}
			}
			gramF.Mul(m.Embedding.T(), m.Embedding)
			for i := range p {
				for j := range p {
					want := 0.0
					if i == j {
						want = 1
					}
					if !(math.Abs(gramF.At(i, j)-want) <= 1e-9) {
						t.Errorf("f_%d·f_%d = %v", i, j, gramF.At(i, j))
					}
				}
			}
		}
	}
}

// For a vanishing γ and a kernel of full rank the functions are the eigenvectors
// of L.
func TestSpectralVanishingGamma(t *testing.T) {
	const n, p = 60, 3
	x, l, _ := spectralProblem(t, n, 12, sparse.Combinatorial)
	m := spectral(t, x, kernel.Kernel{Kind: kernel.Laplace, Sigma: 0.1}, l, SpectralSettings{Gamma: 1e-9, Components: p})
	r, err := lanczos.Laplacian(context.Background(), l, l.Graph().Components(), &lanczos.Settings{K: p + 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Nullity != 1 {
		t.Fatalf("%d components", r.Nullity)
	}
	for j := range p {
		if !(math.Abs(m.Values[j]-r.Values[j+1]) <= 1e-6) {
			t.Errorf("λ_%d = %v, want %v", j, m.Values[j], r.Values[j+1])
		}
		if dot := mat.Dot(m.Embedding.ColView(j), r.Vectors.ColView(j+1)); !(math.Abs(dot) >= 1-1e-6) {
			t.Errorf("cosine %v between function and eigenvector %d", dot, j)
		}
	}
}

func close2(t *testing.T, what string, a, b mat.Matrix, tolerance float64) {
	t.Helper()
	var d mat.Dense
	d.Sub(a, b)
	if e := mat.Max(absolute(&d)); !(e <= tolerance) {
		t.Errorf("%s: difference %v", what, e)
	}
}

func absolute(x *mat.Dense) *mat.Dense {
	x.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, x)
	return x
}

func TestSpectralTransform(t *testing.T) {
	x, l, y := spectralProblem(t, 200, 6, sparse.Combinatorial)
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.3}
	for _, s := range []SpectralSettings{
		{Gamma: 1e-2, Components: 4}, {Gamma: 1e-4, Clusters: 2}, {Gamma: 1e-2, Clusters: 5, Components: 4}, {Gamma: 1e-2, Components: 3, Landmarks: 60},
	} {
		m := spectral(t, x, k, l, s)
		f, err := m.Transform(context.Background(), x, nil)
		if err != nil {
			t.Fatal(err)
		}
		close2(t, "transform of the training points", f, m.Embedding, 1e-7)
		if s.Clusters == 2 {
			truth := make([]int64, len(y.Index))
			for i, c := range y.Index {
				truth[i] = int64(c)
			}
			if _, ari := agreement(t, truth, m.Clusters()); ari != 1 {
				t.Errorf("two moons: adjusted Rand %v", ari)
			}
			fresh, ny := synthetic.TwoMoons(300, 0.05, 8)
			p, err := m.Predict(context.Background(), fresh, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range truth {
				truth[i] = int64(ny.Index[i])
			}
			if _, ari := agreement(t, truth[:200], p.Classes[:200]); !(ari > 0.97) {
				t.Errorf("new points of two moons: adjusted Rand %v", ari)
			}
		}
		// Saved and loaded, the answers have the same bits.
		path := filepath.Join(t.TempDir(), "m.npz")
		if err := models.Save(path, m, map[string]string{"points": "x"}); err != nil {
			t.Fatal(err)
		}
		loaded, mf, err := load(path)
		if err != nil {
			t.Fatal(err)
		}
		if mf.Hashes["points"] != "x" || loaded.Name() != SpectralName || !slices.Equal(loaded.Output().Classes, m.Output().Classes) {
			t.Errorf("%v %v", loaded.Name(), loaded.Output().Classes)
		}
		a, err := m.Predict(context.Background(), x, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := loaded.Predict(context.Background(), x, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Classes, b.Classes) || !mat.Equal(a.Scores, b.Scores) {
			t.Error("the loaded model answers otherwise")
		}
		if s.Clusters > 0 {
			if !slices.Equal(a.Classes, m.Clusters()) {
				t.Error("the clusters of the training points differ when predicted")
			}
			if !slices.Equal(a.Classes, models.Argmax(a.Scores)) {
				t.Error("the cluster is not that of the largest score")
			}
		}
	}
}

// With all points as landmarks the problem is the exact one.
func TestSpectralLandmarks(t *testing.T) {
	x, l, _ := spectralProblem(t, 150, 6, sparse.Normalized)
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.5}
	exact := spectral(t, x, k, l, SpectralSettings{Gamma: 1e-2, Components: 3})
	near := spectral(t, x, k, l, SpectralSettings{Gamma: 1e-2, Components: 3, Landmarks: 120})
	for j := range 3 {
		if !(near.Values[j] >= exact.Values[j]*(1-1e-6) && near.Values[j] <= exact.Values[j]*1.05) {
			t.Errorf("λ_%d = %v with landmarks, %v without", j, near.Values[j], exact.Values[j])
		}
	}
	if n, _ := near.Points.Dims(); n != 120 {
		t.Errorf("%d points kept", n)
	}
}

func TestSpectralPermutation(t *testing.T) {
	x, l, _ := spectralProblem(t, 120, 6, sparse.Combinatorial)
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.4}
	s := SpectralSettings{Gamma: 1e-2, Components: 3}
	a := spectral(t, x, k, l, s)
	order := rand.New(rand.NewPCG(1, 1)).Perm(120)
	px := data.Select(x, order)
	b := spectral(t, px, k, spectralLaplacian(t, px, 6, sparse.Combinatorial), s)
	back := mat.NewDense(120, 3, nil)
	for p, i := range order {
		back.SetRow(i, b.Embedding.RawRowView(p))
	}
	close2(t, "another order of the points", a.Embedding, back, 1e-6)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if c := spectral(t, x, k, l, s); !mat.Equal(c.Embedding, a.Embedding) || !mat.Equal(c.Coefficients, a.Coefficients) {
		t.Error("one thread gives other functions")
	}
}

func TestSpectralFaults(t *testing.T) {
	x, l, _ := spectralProblem(t, 30, 4, sparse.Combinatorial)
	gauss := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}
	for _, c := range []struct {
		name string
		x    data.Points
		k    kernel.Kernel
		s    *SpectralSettings
		mem  int64
	}{
		{"no settings", x, gauss, nil, 0},
		{"γ", x, gauss, &SpectralSettings{Gamma: math.NaN()}, 0},
		{"clusters", x, gauss, &SpectralSettings{Gamma: 1, Clusters: 1}, 0},
		{"too many clusters", x, gauss, &SpectralSettings{Gamma: 1, Clusters: 31, Components: 2}, 0},
		{"components", x, gauss, &SpectralSettings{Gamma: 1, Components: 30}, 0},
		{"rank", x, kernel.Kernel{Kind: kernel.Linear}, &SpectralSettings{Gamma: 1, Components: 2}, 0},
		{"points", data.Select(x, []int{0, 1, 2}), gauss, &SpectralSettings{Gamma: 1}, 0},
		{"zero", data.NewDense[float64](30, 2), kernel.Kernel{Kind: kernel.Linear}, &SpectralSettings{Gamma: 1}, 0},
		{"memory", x, gauss, &SpectralSettings{Gamma: 1}, 1000},
	} {
		if m, err := FitSpectral(context.Background(), &kernelmachine.Data{Points: c.x, Kernel: c.k, Laplacian: l, Limit: c.mem}, c.s); err == nil || m != nil {
			t.Errorf("%s is accepted", c.name)
		}
	}
	if m, err := FitSpectral(context.Background(), &kernelmachine.Data{Values: x, Laplacian: l}, &SpectralSettings{Gamma: 1}); err == nil || m != nil {
		t.Error("values in place of points are accepted")
	}
	// Duplicates make the Gram matrix singular and are no fault.
	twice := data.Select(x, slices.Concat(rangeTo(30), rangeTo(30)))
	m := spectral(t, twice, gauss, spectralLaplacian(t, twice, 4, sparse.Combinatorial), SpectralSettings{Gamma: 0.1})
	for i := range 30 {
		for j := range 2 {
			if !(math.Abs(m.Embedding.At(i, j)-m.Embedding.At(30+i, j)) <= 1e-6) {
				t.Errorf("point %d and its copy are at %v and %v", i, m.Embedding.RawRowView(i), m.Embedding.RawRowView(30+i))
			}
		}
	}
}

func rangeTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Files whose parts do not fit together are not loaded.
func TestSpectralDamage(t *testing.T) {
	x, l, _ := spectralProblem(t, 40, 6, sparse.Combinatorial)
	path := filepath.Join(t.TempDir(), "m.npz")
	for name, damage := range map[string]func(m *Spectral){
		"components":  func(m *Spectral) { m.Settings.Components = 3 },
		"values":      func(m *Spectral) { m.Values = m.Values[:1] },
		"points":      func(m *Spectral) { m.Points = data.Select(x, []int{1, 2}) },
		"no points":   func(m *Spectral) { m.Points = nil },
		"centres":     func(m *Spectral) { m.Centres = mat.NewDense(4, 2, nil) },
		"no centres":  func(m *Spectral) { m.Centres = nil },
		"γ":           func(m *Spectral) { m.Settings.Gamma = 0 },
		"kernel":      func(m *Spectral) { m.Kernel.Sigma = -1 },
		"not finite":  func(m *Spectral) { m.Coefficients.Set(0, 0, math.NaN()) },
		"precomputed": func(m *Spectral) { m.Given = true },
	} {
		m := spectral(t, x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.5}, l, SpectralSettings{Gamma: 1, Clusters: 3})
		damage(m)
		if err := models.Save(path, m, nil); err != nil {
			if !strings.Contains(err.Error(), "not finite") {
				t.Fatal(err)
			}
			continue
		}
		if _, _, err := load(path); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}
