package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
)

// gzipIDX writes a file in MNIST's own form.
func gzipIDX(t *testing.T, path string, shape []uint32, content []byte) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	raw := []byte{0, 0, 8, byte(len(shape))}
	for _, s := range shape {
		raw = binary.BigEndian.AppendUint32(raw, s)
	}
	_, err := z.Write(append(raw, content...))
	must(t, err)
	must(t, z.Close())
	writeFile(t, path, b.Bytes())
}

// The experiment on MNIST takes the files as they are published.
func TestReproduce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("mnist", 0o777))
	const n = 1100
	x, y := synthetic.Digits(n, 1)
	labels := make([]byte, n)
	for i, c := range y.Index {
		labels[i] = byte(c)
	}
	gzipIDX(t, "mnist/train-images-idx3-ubyte.gz", []uint32{n, synthetic.DigitSide, synthetic.DigitSide}, x.Data)
	gzipIDX(t, "mnist/train-labels-idx1-ubyte.gz", []uint32{n}, labels)
	t.Setenv("BIGFIT_DATA", "mnist")

	out := succeed(t, "mnist", "--labels", "20,50", "--splits", "2", "--baselines", "knn,gnn", "--report", "mnist.html")
	for _, w := range []string{"8 neighbours either way, as written\n\n| labels |", "8 neighbours, W = A + Aᵀ\n\n| labels |", "6 neighbours, W = A + Aᵀ (mean degree ", "the 5 cells of eigenvectors are ", "| 20 |", "| 50 |", "35.8", "eigenpairs"} {
		if !strings.Contains(out, w) {
			t.Errorf("the table lacks %q:\n%s", w, out)
		}
	}
	page := string(readFile(t, "mnist.html"))
	for _, w := range []string{"Error by number of labels", "paper, best number of eigenvectors", "best k-GNN", "<dt>labels</dt><dd>20, 50</dd>", "<dt>baselines</dt><dd>knn, gnn</dd>", "orthogonality"} {
		if !strings.Contains(page, w) {
			t.Errorf("the report lacks %q", w)
		}
	}
	out = succeed(t, "mnist", "--labels", "50", "--splits", "2", "--recipe", "best", "--json")
	var rows []struct {
		Labels int
		Mean   *float64 `json:"error_mean"`
		Std    *float64 `json:"error_std"`
		Paper  *float64
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) < 2 {
		t.Fatalf("%v in %s", err, out)
	}
	for _, r := range rows {
		if r.Labels != 50 || r.Mean == nil || r.Std == nil || r.Paper == nil {
			t.Errorf("row %+v", r)
		}
	}
	out = succeed(t, "propagation", "--splits", "1")
	for _, w := range []string{"| 1 a class | harmonic |", "| 100 | lgc |", "preparation"} {
		if !strings.Contains(out, w) {
			t.Errorf("the table lacks %q:\n%s", w, out)
		}
	}
	fail(t, 2, []string{"--labels 7", "20, 50"}, "mnist", "--labels", "7")
	fail(t, 2, []string{"5000 labels", "1100 points"}, "mnist", "--labels", "5000", "--splits", "1", "--recipe", "best")
	fail(t, 2, []string{"5000 labels", "--labels"}, "mnist")
	gzipIDX(t, "mnist/train-labels-idx1-ubyte.gz", []uint32{n - 1}, labels[1:])
	fail(t, 2, []string{"train-labels-idx1-ubyte.gz", "1100", "1099"}, "mnist")
	must(t, os.Remove("mnist/train-labels-idx1-ubyte.gz"))
	fail(t, 2, []string{"train-labels-idx1-ubyte.gz", "LeCun"}, "mnist")
}
