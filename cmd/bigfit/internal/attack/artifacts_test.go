package attack

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// artifact is a file that bigfit wrote, and lines that read it as FILE.
type artifact struct {
	file  string
	lines []string
	deep  bool // info reads its arrays
}

const (
	artifactPoints = 120
	artifactDims   = 3
)

// makeArtifacts fills dir with small data, X.npy and y.npy with labels for a sixth of
// the points in two groups, truth.npy for all, and with every kind of artifact.
func makeArtifacts(t *testing.T, dir string) []artifact {
	t.Helper()
	const n, d = artifactPoints, artifactDims
	rng := rand.New(rand.NewPCG(1, 2))
	x, y, truth := make([]float64, n*d), make([]int64, n), make([]int64, n)
	for i := range n {
		truth[i] = int64(i % 2)
		if y[i] = -1; i < n/6 {
			y[i] = truth[i]
		}
		for j := range d {
			x[i*d+j] = rng.NormFloat64() + 3*float64(truth[i])
		}
	}
	write := func(name string, shape []int, v any) {
		if err := npy.WriteFile(filepath.Join(dir, name), shape, v); err != nil {
			t.Fatal(err)
		}
	}
	write("X.npy", []int{n, d}, x)
	write("y.npy", nil, y)
	write("truth.npy", nil, truth)
	succeedIn(t, dir, "graph X.npy -k 6 -o graph.npz")
	succeedIn(t, dir, "eigs graph.npz -n 8 -o eigs.npz")
	write("B.npy", []int{n}, x[:n])
	succeedIn(t, dir, "solve graph.npz --shift 0.1 --save-factor factor.npz")
	out := []artifact{
		{"graph.npz", []string{"info FILE", "eigs FILE -n 5 -o out.npz", "graph FILE -k 3 -o out.npz", "fit --graph FILE -y y.npy --model harmonic -o out.npz", "fit --graph FILE -X X.npy -y y.npy --model harmonic -o out.npz"}, false},
		{"factor.npz", []string{"info FILE", "solve graph.npz B.npy --shift 0.1 --factor FILE -o out.npy"}, false},
		{"eigs.npz", []string{"info FILE", "fit --model eigenmap --eigs FILE -y y.npy -o out.npz", "plot eigenvalues FILE -o out.svg"}, false},
	}
	for _, m := range []struct {
		name, flags string
		updated     bool
	}{
		{"eigenmap", "", true}, {"harmonic", "", true}, {"knn", "", true}, {"laprls-linear", " --gamma-a 1e-3 --gamma-i 1e-2", false},
		{"lapsvm", " --gamma-a 1e-3 --gamma-i 1e-2", false}, {"oneclass", "", false}, {"rls", " --gamma-a 1e-3 --landmarks 20", false},
		{"sssl", " --eigenfunctions 4", false}, {"tsvm", " --gamma-a 1e-2", false},
	} {
		file := "model-" + m.name + ".npz"
		succeedIn(t, dir, "fit -X X.npy -y y.npy --model "+m.name+m.flags+" -o "+file)
		lines := []string{"info FILE", "predict FILE -X X.npy -o out.npy"}
		if m.updated {
			lines = append(lines, "update FILE -X X.npy -o out.npz")
		}
		out = append(out, artifact{file, lines, true})
	}
	succeedIn(t, dir, "neighbors X.npy -k 5 -o neighbors.npz")
	out = append(out, artifact{"neighbors.npz", []string{"graph --lists FILE -o out.npz", "info FILE"}, false})
	succeedIn(t, dir, "predict model-knn.npz -X X.npy -o p.npy")
	for _, table := range []string{"p.csv", "p.jsonl", "p.parquet"} {
		succeedIn(t, dir, "predict model-knn.npz -X X.npy -o "+table)
		out = append(out, artifact{table, []string{"eval -y truth.npy --predictions FILE", "fit X.npy FILE --model knn -o out.npz", "info FILE"}, false})
	}
	for _, table := range []string{"e.csv", "e.jsonl", "e.parquet"} {
		succeedIn(t, dir, "embed -X X.npy --dimensions 2 -o "+table)
		out = append(out, artifact{table, []string{"graph FILE --drop id -k 5 -o out.npz", "fit FILE y.npy --drop id --model knn -o out.npz", "info FILE"}, false})
	}
	return out
}
