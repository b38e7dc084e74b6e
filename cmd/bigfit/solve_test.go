package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

func TestSolve(t *testing.T) {
	t.Chdir(t.TempDir())
	// A path of three points, and one of two.
	w := sparse.CSR{Rows: 5, Cols: 5, Ptr: []int64{0, 1, 3, 4, 5, 6}, Col: []int32{1, 0, 2, 1, 4, 3}, Val: []float64{1, 1, 2, 2, 1, 1}}
	must(t, sparse.WriteNPZ("w.npz", &w, nil))
	b := []float64{1, 0, -2, 3, 1, 0, 0, -1, 0, 1}
	must(t, npy.WriteFile("b.npy", []int{5, 2}, b))
	l, err := sparse.NewLaplacian(&w, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	residual := func(power int, shift float64, right *mat.Dense) float64 {
		x, err := npy.ReadFile("x.npy", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		values, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		var y mat.Dense
		y.ReuseAs(5, 2)
		l.With(power, shift).MulTo(&y, mat.NewDense(5, 2, values))
		y.Sub(&y, right)
		return mat.Norm(&y, math.Inf(1))
	}
	succeed(t, "solve", "w.npz", "b.npy", "--shift", "0.5", "--power", "2", "-o", "x.npy", "-q")
	if r := residual(2, 0.5, mat.NewDense(5, 2, b)); !(r < 1e-7) {
		t.Errorf("residual %v", r)
	}
	// Without the means over the components the singular system has a solution.
	succeed(t, "solve", "w.npz", "b.npy", "--project", "-o", "x.npy", "-q")
	centred := mat.DenseCopyOf(mat.NewDense(5, 2, b))
	for _, part := range [][2]int{{0, 3}, {3, 5}} {
		for j := range 2 {
			rows := centred.Slice(part[0], part[1], j, j+1).(*mat.Dense)
			mean := mat.Sum(rows) / float64(part[1]-part[0])
			rows.Apply(func(_, _ int, v float64) float64 { return v - mean }, rows)
		}
	}
	if r := residual(1, 0, centred); !(r < 1e-7) {
		t.Errorf("projected: residual %v", r)
	}
	must(t, npy.WriteFile("nan.npy", []int{5}, []float64{1, 2, math.NaN(), 0, 0}))
	must(t, npy.WriteFile("short.npy", []int{4}, make([]float64, 4)))
	for _, c := range []struct {
		line string
		want []string
	}{
		{"solve w.npz", []string{"two arguments", "1 are given"}},
		{"solve w.npz b.npy", []string{"b.npy: column 1 has", "null vector of component 0", "--shift", "--project"}},
		{"solve w.npz nan.npy --shift 1", []string{"nan.npy: row 2, column 0 is NaN"}},
		{"solve w.npz short.npy --shift 1", []string{"short.npy", "4", "5"}},
		{"solve w.npz b.npy --shift -1", []string{"--shift is -1"}},
		{"solve w.npz b.npy --laplacian random-walk", []string{"not symmetric", "normalized"}},
		{"solve w.npz b.npy --shift 1 --tolerance 2", []string{"--tolerance is 2"}},
		{"solve w.npz b.npy --shift 1 --power 0", []string{"--power is 0"}},
		{"solve w.npz b.npy --shift 1 -o b.npy", []string{"both read and written"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
}

// A served system answers each line on stdin with the solution that solve writes; a fault of one line
// leaves the others alone.
func TestServedSystem(t *testing.T) {
	t.Chdir(t.TempDir())
	w := sparse.CSR{Rows: 5, Cols: 5, Ptr: []int64{0, 1, 3, 4, 5, 6}, Col: []int32{1, 0, 2, 1, 4, 3}, Val: []float64{1, 1, 2, 2, 1, 1}}
	must(t, sparse.WriteNPZ("w.npz", &w, nil))
	must(t, npy.WriteFile("b.npy", []int{5, 2}, []float64{1, 0, -2, 3, 1, 0, 0, -1, 0, 1}))
	must(t, npy.WriteFile("one.npy", []int{5}, []float64{1, 2, 3, 4, 5}))
	must(t, npy.WriteFile("short.npy", []int{4}, make([]float64, 4)))

	path, err := program()
	must(t, err)
	cmd := exec.Command(path, "solve", "w.npz", "--serve", "--shift", "0.5", "--json", "-q")
	cmd.Stdin = strings.NewReader("b.npy\tx.npy\nshort.npy\ty.npy\none.npy\tz.npy\n")
	out, err := cmd.Output()
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 4 || !strings.Contains(lines[2], "short.npy has 4") || strings.Contains(lines[3], "fault") {
		t.Fatalf("%q", lines)
	}
	for _, pair := range [][2]string{{"b.npy", "x.npy"}, {"one.npy", "z.npy"}} {
		succeed(t, "solve", "w.npz", pair[0], "--shift", "0.5", "-o", "alone.npy", "-q")
		x, err := npy.ReadFile(pair[1], 1<<20)
		must(t, err)
		y, err := npy.ReadFile("alone.npy", 1<<20)
		must(t, err)
		a, err := x.Float64s()
		must(t, err)
		b, err := y.Float64s()
		must(t, err)
		for i := range a {
			if !(math.Abs(a[i]-b[i]) < 1e-7) {
				t.Errorf("%s: entry %d is %v, and %v alone", pair[1], i, a[i], b[i])
			}
		}
	}
	fail(t, 2, []string{"one argument"}, "solve", "w.npz", "b.npy", "--serve")
	fail(t, 2, []string{"--power"}, "solve", "w.npz", "--serve", "--power", "2")
}

// TestStoredFactorOfSolve: a factor is made once, with B or without, and solves in later runs with the same
// bits; it is refused with another graph, shift or kind of Laplacian.
func TestStoredFactorOfSolve(t *testing.T) {
	t.Chdir(t.TempDir())
	stripGraph(t, "w.npz", 300)
	stripGraph(t, "other.npz", 303)
	b := make([]float64, 600)
	for i := range b {
		b[i] = math.Sin(float64(i * i))
	}
	must(t, npy.WriteFile("b.npy", []int{300, 2}, b))
	read := func(name string) []byte { return readFile(t, name) }

	succeed(t, "solve", "w.npz", "b.npy", "--shift", "0.5", "--save-factor", "f.npz", "-o", "x.npy")
	text := succeed(t, "solve", "w.npz", "b.npy", "--shift", "0.5", "--factor", "f.npz", "-o", "y.npy")
	if !strings.Contains(text, "preconditioner cholesky") {
		t.Errorf("%s", text)
	}
	if !bytes.Equal(read("x.npy"), read("y.npy")) {
		t.Error("the stored factor gives another solution")
	}
	if text := succeed(t, "solve", "w.npz", "--shift", "0.5", "--save-factor", "g.npz"); !strings.Contains(text, "g.npz: the factor for 300 points, cholesky") {
		t.Errorf("%s", text)
	}
	succeed(t, "solve", "w.npz", "b.npy", "--shift", "0.5", "--factor", "g.npz", "-o", "z.npy")
	if !bytes.Equal(read("x.npy"), read("z.npy")) {
		t.Error("the factor that was made alone gives another solution")
	}
	succeed(t, "solve", "w.npz", "b.npy", "--shift", "0.5", "--power", "2", "--factor", "f.npz", "-o", "p.npy")
	if text := succeed(t, "info", "f.npz"); !strings.Contains(text, "bigfit factor") {
		t.Errorf("info says %s", text)
	}
	if text := succeed(t, "diff", "f.npz", "g.npz"); !strings.Contains(text, "same") && !strings.Contains(text, "equal") {
		t.Errorf("diff says %s", text)
	}

	must(t, os.WriteFile("bad.npz", read("f.npz")[:2000], 0o666))
	must(t, npy.WriteFile("c.npy", []int{303}, make([]float64, 303)))
	for _, c := range []struct {
		line string
		want []string
	}{
		{"solve w.npz b.npy --shift 0.25 --factor f.npz -o q.npy", []string{"f.npz", "shifted by 0.5", "make the factor again"}},
		{"solve w.npz b.npy --shift 0.5 --laplacian normalized --factor f.npz -o q.npy", []string{"f.npz", "combinatorial", "normalized"}},
		{"solve other.npz c.npy --shift 0.5 --factor f.npz -o q.npy", []string{"f.npz", "300 points", "303"}},
		{"solve w.npz b.npy --shift 0.5 --factor bad.npz -o q.npy", []string{"bad.npz", "truncated"}},
		{"solve w.npz b.npy --shift 0.5 --factor w.npz -o q.npy", []string{"w.npz", "manifest"}},
		{"solve w.npz b.npy --shift 0.5 --factor none.npz -o q.npy", []string{"none.npz", "no such file"}},
		{"solve w.npz b.npy --factor f.npz --save-factor g.npz", []string{"one of both"}},
		{"solve w.npz b.npy --shift 0.5 --save-factor f.txt", []string{"f.txt", ".npz", "factor"}},
		{"solve w.npz b.npy --shift 0.5 --save-factor q.npz -o q.npz", []string{"q.npz", "written twice"}},
		{"solve w.npz --factor f.npz --shift 0.5", []string{"two arguments"}},
		{"solve w.npz b.npy --shift 0.5 --save-factor w.npz", []string{"both read and written"}},
		{"solve w.npz b.npy --shift 0.5 --save-factor q.npz --memory-limit 40kB", []string{"--memory-limit"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
}
