package main

import (
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// TestReproduceReport runs an experiment with a report.
func TestReproduceReport(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("sets", 0o777))
	x, y := synthetic.TwoMoons(100, 0.05, 1)
	must(t, npy.WriteArchive("sets/sindhwani_2moons.npz", []archive.Array{
		{Name: "X", Shape: []int{100, 2}, Data: x.Data}, {Name: "y", Data: y.Index},
		{Name: "Xt", Shape: []int{100, 2}, Data: x.Data}, {Name: "yt", Data: y.Index},
	}))
	out := succeed(t, "moons", "--data", "sets", "--report", "r.html", "-q")
	page := string(readFile(t, "r.html"))
	for _, w := range []string{"<h1>reproduce moons</h1>", "LapRLS, Xt</th>", ">γ_I = 10</td>", "Two moons, one label a class", ">γ_I = 0: ", "<dt>data</dt><dd>sets</dd>", ">machines</text>", `<td class="one">machines</td>`} {
		if !strings.Contains(page, w) {
			t.Errorf("the report lacks %q", w)
		}
	}
	if n := strings.Count(page, `<p class="panel">`); n != 12 {
		t.Errorf("%d panels", n)
	}
	if strings.Contains(page, "<dt>splits</dt>") {
		t.Error("a setting that moons does not have")
	}
	for _, line := range strings.Split(out, "\n") {
		for _, cell := range strings.Split(line, " | ") {
			if strings.Contains(cell, "±") && !strings.Contains(page, ">"+strings.Trim(cell, "| ")+"<") {
				t.Errorf("the report lacks the cell %q", cell)
			}
		}
	}
	fail(t, 2, []string{"--report", ".html"}, "moons", "--data", "sets", "--report", "sets/sindhwani_2moons.npz")
	fail(t, 2, []string{"--report", ".html"}, "moons", "--data", "sets", "--report=")
	fail(t, 1, []string{"nowhere/r.html cannot be written"}, "moons", "--data", "absent", "--report", "nowhere/r.html")
	fail(t, 2, []string{"absent has none of"}, "moons", "--data", "absent", "--report", "new.html")
}
