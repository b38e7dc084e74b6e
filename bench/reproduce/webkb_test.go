package main

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

func TestReproduceWebKB(t *testing.T) {
	t.Chdir(t.TempDir())
	const n, words = 60, 40
	rng := rand.New(rand.NewPCG(1, 2))
	classes := make([]int64, n)
	var row, col []int32
	var val []float64
	for i := range n {
		classes[i] = 1 + int64(min(i%3, 1))
		for range 8 {
			row, col, val = append(row, int32(i)), append(col, int32((int(classes[i])-1)*words/4+rng.IntN(words*3/4))), append(val, 0.5)
		}
	}
	x, err := sparse.FromTriplets(n, words, row, col, val)
	must(t, err)
	must(t, sparse.WriteNPZ("webkb_sindhwani_page_X.npz", x, nil))
	must(t, sparse.WriteNPZ("webkb_sindhwani_link_X.npz", x, nil))
	must(t, npy.WriteFile("webkb_sindhwani_y.npy", []int{n}, classes))

	out := succeed(t, "webkb", "--data", ".", "--splits", "1", "--report", "webkb.html")
	for _, w := range []string{"(2006), Table 5", "LapSVM", "(86.37)", "| page+link | cosine | LapRLS |", "(7.50)"} {
		if !strings.Contains(out, w) {
			t.Errorf("the tables lack %q:\n%s", w, out)
		}
	}
	page := string(readFile(t, "webkb.html"))
	for _, w := range []string{`aria-hidden="true">Belkin, Niyogi &amp; Sindhwani (2006), Table 5`, `aria-hidden="true">Sindhwani, Niyogi &amp; Belkin (2005)`, "<dt>splits</dt><dd>1</dd>"} {
		if !strings.Contains(page, w) {
			t.Errorf("the report lacks %q", w)
		}
	}
	var rows []struct {
		Table int
		View  string
		PRBEP *float64 `json:"prbep_mean"`
		Draws int
	}
	out = succeed(t, "webkb", "--data", ".", "--splits", "1", "--json")
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 45 {
		t.Fatalf("%v, %d rows in %s", err, len(rows), out)
	}
	for _, r := range rows {
		if r.PRBEP == nil || r.View == "" || r.Draws != 5 {
			t.Errorf("row %+v", r)
		}
	}
	fail(t, 2, []string{"--recipe", "webkb"}, "webkb", "--recipe", "best")
	fail(t, 2, []string{"webkb_sindhwani_y.npy"}, "webkb", "--data", "nowhere")
}
