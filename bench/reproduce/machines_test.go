package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// The experiments on kernel machines take files of the published form.
func TestReproduceMachines(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("sets", 0o777))
	x, y := synthetic.TwoMoons(100, 0.05, 1)
	xt, yt := synthetic.TwoMoons(80, 0.05, 2)
	must(t, npy.WriteArchive("sets/sindhwani_2moons.npz", []archive.Array{
		{Name: "X", Shape: []int{100, 2}, Data: x.Data}, {Name: "y", Data: y.Index},
		{Name: "Xt", Shape: []int{80, 2}, Data: xt.Data}, {Name: "yt", Data: yt.Index},
	}))
	out := succeed(t, "moons", "--data", "sets")
	for _, w := range []string{"| error % | LapSVM, X |", "| γ_I = 10 |", "machines"} {
		if !strings.Contains(out, w) {
			t.Errorf("the table lacks %q:\n%s", w, out)
		}
	}
	out = succeed(t, "moons", "--data", "sets", "--json")
	var rows []struct {
		Row, Method string
		Mean        *float64 `json:"error_mean"`
		Paper       *float64
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 56 || rows[0].Method != "LapSVM, X" || rows[0].Mean == nil || rows[0].Paper != nil {
		t.Errorf("%v, %d rows in %s", err, len(rows), out)
	}
	for _, name := range []string{"point-cloud", "usps", "isolet", "ssl-book"} {
		fail(t, 2, []string{"sets has none of", "--data"}, name, "--data", "sets")
	}
	fail(t, 2, []string{"--labels", "usps"}, "usps", "--data", "sets", "--labels", "20")
	fail(t, 2, []string{"unknown experiment", "ssl-book", "did you mean mnist?"}, "mnisd")
}
