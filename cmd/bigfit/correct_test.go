package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// intoLinks writes points whose columns say something of their class and links that say something else of it: X.npy,
// new.npy, links.npz, ids.csv, few labels by name in y.csv and all in truth.csv.
func intoLinks(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	const n, d = 240, 6
	rng := rand.New(rand.NewPCG(7, 8))
	names := []string{"red", "green", "blue"}
	x := make([]float64, n*d)
	var ids, few, truth strings.Builder
	ids.WriteString("id\n")
	few.WriteString("id,label\n")
	truth.WriteString("id,label\n")
	for i := range n {
		for j := range d {
			x[i*d+j] = rng.NormFloat64()
			if j == i%3 {
				x[i*d+j] += 1.2
			}
		}
		fmt.Fprintf(&ids, "p%d\n", i)
		fmt.Fprintf(&truth, "p%d,%s\n", i, names[i%3])
		if i < 15 {
			fmt.Fprintf(&few, "p%d,%s\n", i, names[i%3])
		}
	}
	var from, to []int32
	var weights []float64
	seen := map[[2]int]bool{}
	for i := range n {
		for range 4 {
			j := rng.IntN(n)
			if rng.IntN(4) > 0 {
				j = 3*rng.IntN(n/3) + i%3
			}
			if i == j || seen[[2]int{min(i, j), max(i, j)}] {
				continue
			}
			seen[[2]int{min(i, j), max(i, j)}] = true
			from, to = append(from, int32(i), int32(j)), append(to, int32(j), int32(i))
			weights = append(weights, 1, 1)
		}
	}
	w, err := sparse.FromTriplets(n, n, from, to, weights)
	must(t, err)
	must(t, sparse.WriteNPZ("links.npz", w, nil))
	must(t, npy.WriteFile("X.npy", []int{n, d}, x))
	must(t, npy.WriteFile("new.npy", []int{20, d}, x[:20*d]))
	for name, text := range map[string]string{"ids.csv": ids.String(), "y.csv": few.String(), "truth.csv": truth.String()} {
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// TestLinksRoad goes from columns, links and a few named labels to answers by id, on defaults: the model that corrects by
// the links errs less than the columns alone and than the links alone, and the default of fit is no worse than they.
func TestLinksRoad(t *testing.T) {
	intoLinks(t)
	errorOf := func(flags ...string) float64 {
		t.Helper()
		line := append([]string{"fit", "X.npy", "y.csv", "--ids", "ids.csv:id", "-o", "m.npz", "--predictions", "a.csv", "-q"}, flags...)
		succeed(t, line...)
		var s struct {
			Error float64 `json:"error"`
		}
		must(t, json.Unmarshal([]byte(succeed(t, "eval", "truth.csv", "a.csv", "--json", "-q")), &s))
		return s.Error
	}
	columns := errorOf("--model", "rls", "--gamma-a", "0.1")
	links := errorOf("--model", "lgc", "--graph", "links.npz")
	auto := errorOf("--graph", "links.npz")
	both := errorOf("--model", "correct-and-smooth", "--graph", "links.npz")
	if !(both < columns && both < links && auto <= min(columns, links)) {
		t.Errorf("errors: columns %v, links %v, both %v, auto %v", columns, links, both, auto)
	}

	// New points, the next labels and doubtful ones, by ids.
	succeed(t, "predict", "m.npz", "new.npy", "-o", "new.csv", "--proba", "proba.csv", "-q")
	if text := string(readFile(t, "new.csv")); strings.Count(text, "\n") != 21 || !strings.Contains(text, "red") {
		t.Errorf("answers for new points: %.100q", text)
	}
	succeed(t, "next", "m.npz", "--graph", "links.npz", "-n", "5", "-o", "next.csv", "-q")
	if text := string(readFile(t, "next.csv")); !strings.Contains(text, "\np") {
		t.Errorf("what to label next: %.100q", text)
	}
	succeed(t, "suspects", "m.npz", "--graph", "links.npz", "-o", "suspects.csv", "-q")
	if info := succeed(t, "info", "m.npz"); !strings.Contains(info, "model: correct-and-smooth, 15 points labeled, 3 classes") {
		t.Errorf("info: %s", info)
	}
	fail(t, 2, []string{`--base is "knn"`, "rls-linear"}, "fit", "X.npy", "y.csv", "--ids", "ids.csv:id", "--model", "correct-and-smooth", "--base", "knn")
}
