package knn_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// peerCase is what another program makes a graph of: lists, and a word for its script.
type peerCase struct {
	nb  *knn.Neighbors
	arg string
}

// peers runs a Python script, which computes w from index, dist, n, k and arg, on lists
// of neighbours, the points first in their own, and returns the matrices of weights that
// it made. All cases share one process, as some packages compile for half a minute. Exit
// code 77 means that the script lacks a package.
func peers(t *testing.T, script string, cases []peerCase) []*sparse.CSR {
	t.Helper()
	dir := t.TempDir()
	args := []string{"-c", `
import sys
try:
    import numpy as np, scipy.sparse as sp
except ImportError:
    sys.exit(77)
def weights(index, dist, n, k, arg):
` + strings.ReplaceAll(script, "\n", "\n    ") + `
    return w
for path, arg in zip(sys.argv[1::2], sys.argv[2::2]):
    a = np.load(path + '.npz')
    w = weights(a['indices'], a['distances'], *a['indices'].shape, arg)
    sp.save_npz(path + '.out.npz', sp.csr_matrix(w, dtype=float))
`}
	for c, one := range cases {
		n, k := one.nb.Len(), one.nb.K+1
		index, dist := make([]int64, 0, n*k), make([]float64, 0, n*k)
		for i := range n {
			own, d := one.nb.Row(i)
			index, dist = append(index, int64(i)), append(dist, 0)
			for p, j := range own {
				index, dist = append(index, int64(j)), append(dist, d[p])
			}
		}
		path := filepath.Join(dir, strconv.Itoa(c))
		if err := npy.WriteArchive(path+".npz", []archive.Array{{Name: "indices", Shape: []int{n, k}, Data: index}, {Name: "distances", Shape: []int{n, k}, Data: dist}}); err != nil {
			t.Fatal(err)
		}
		args = append(args, path, one.arg)
	}
	text, err := exec.Command("/usr/bin/python3", args...).CombinedOutput()
	if code := (*exec.ExitError)(nil); errors.As(err, &code) && code.ExitCode() == 77 {
		t.Skip("python3 lacks NumPy, SciPy or umap-learn")
	} else if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	} else if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := make([]*sparse.CSR, len(cases))
	for c := range out {
		if out[c], err = sparse.ReadNPZ(filepath.Join(dir, strconv.Itoa(c)+".out.npz"), 0); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// sameWeights compares all edges of two graphs.
func sameWeights(t *testing.T, got, want *sparse.CSR, tolerance float64) {
	t.Helper()
	if err := got.CheckGraph(); err != nil {
		t.Fatal(err)
	}
	var largest float64
	for _, pair := range [][2]*sparse.CSR{{got, want}, {want, got}} {
		for i := range pair[0].Rows {
			col, _ := pair[0].Row(i)
			for _, j := range col {
				largest = math.Max(largest, math.Abs(pair[0].At(i, int(j))-pair[1].At(i, int(j))))
			}
		}
	}
	t.Logf("%d entries, of the other program %d; the largest difference is %.2g", got.NNZ(), want.NNZ(), largest)
	if !(largest <= tolerance) || got.NNZ() == 0 {
		t.Errorf("weights differ by up to %v", largest)
	}
}

// lists of points in clusters of different width, each of which holds duplicates if
// they are asked for.
func lists(t *testing.T, n, d, k int, duplicates bool) *knn.Neighbors {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	x := make([]float64, n*d)
	for i := range n {
		for j := range d {
			x[i*d+j] = rng.NormFloat64() * math.Exp2(float64(i%5))
		}
		if duplicates && i%7 == 3 {
			copy(x[i*d:(i+1)*d], x[(i-3)*d:])
		}
	}
	ix, err := knn.NewBrute(&data.Dense[float64]{Rows: n, Cols: d, Data: x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := ix.Self(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

const umapScript = `
try:
    from umap.umap_ import fuzzy_simplicial_set
except ImportError:
    sys.exit(77)
w, _, _ = fuzzy_simplicial_set(sp.coo_matrix((n, 1)), k, None, None, knn_indices=index, knn_dists=dist, set_op_mix_ratio=float(arg))
`

// Weights are those of umap-learn with n_neighbors = k + 1.
func TestUMAPWeightsBesideUMAP(t *testing.T) {
	testmode.Campaign(t)
	if testing.Short() {
		t.Skip("umap-learn compiles for half a minute")
	}
	sets := []struct {
		n, d, k    int
		duplicates bool
		s          sparse.Symmetry
	}{{1500, 6, 14, false, sparse.Either}, {700, 3, 29, true, sparse.Both}, {300, 2, 1, true, sparse.Either}}
	var cases []peerCase
	for _, c := range sets {
		cases = append(cases, peerCase{lists(t, c.n, c.d, c.k, c.duplicates), fmt.Sprint(1 - int(c.s))})
	}
	want := peers(t, umapScript, cases)
	for i, c := range sets {
		t.Run(fmt.Sprintf("%d neighbours", c.k), func(t *testing.T) {
			got, _, err := knn.FromNeighbors(cases[i].nb, knn.GraphSettings{K: c.k, Weights: knn.UMAP, Symmetry: c.s})
			if err != nil {
				t.Fatal(err)
			}
			sameWeights(t, got, want[i], 1e-6)
		})
	}
}

// gaussScript computes the kernel for all pairs and keeps the neighbours.
const gaussScript = `
width = np.median(dist[:, 1:]**2, axis=1)
near = np.full((n, n), np.nan)
np.put_along_axis(near, index[:, 1:], dist[:, 1:], axis=1)
both = ~np.isnan(near) & ~np.isnan(near.T)
near = np.where(np.isnan(near), near.T, near)
joined = ~np.isnan(near) if arg == "either" else both
den = width[:, None] + width[None, :]
w = np.where(joined, np.sqrt(2 * np.sqrt(np.outer(width, width)) / den) * np.exp(-np.nan_to_num(near)**2 / den), 0)
`

const jaccardScript = `
lists = [set(row) for row in index[:, 1:]]
w = np.zeros((n, n))
for i in range(n):
    for j in lists[i]:
        shared = len(lists[i] & lists[j])
        w[i, j] = shared / (2 * (k - 1) - shared)
w = (w + w.T) / 2 if arg == "either" else w * w.T
`

// Weights are those of the formulas of scanpy and PhenoGraph, written anew in NumPy.
func TestGaussAndJaccardBesideNumPy(t *testing.T) {
	for _, c := range []struct {
		name   string
		w      knn.Weighting
		script string
	}{{"gauss", knn.Gauss, gaussScript}, {"jaccard", knn.Shared, jaccardScript}} {
		var cases []peerCase
		for _, k := range []int{14, 5} {
			for _, s := range []sparse.Symmetry{sparse.Either, sparse.Both} {
				cases = append(cases, peerCase{lists(t, 400, 3, k, c.w == knn.Shared), s.String()})
			}
		}
		for i, want := range peers(t, c.script, cases) {
			nb, s := cases[i].nb, sparse.Symmetry(i%2)
			t.Run(fmt.Sprintf("%s, %d, %s", c.name, nb.K, s), func(t *testing.T) {
				if s.String() != cases[i].arg {
					t.Fatalf("case %d is of %s", i, cases[i].arg)
				}
				got, _, err := knn.FromNeighbors(nb, knn.GraphSettings{K: nb.K, Weights: c.w, Symmetry: s})
				if err != nil {
					t.Fatal(err)
				}
				sameWeights(t, got, want, 1e-12)
			})
		}
	}
}
