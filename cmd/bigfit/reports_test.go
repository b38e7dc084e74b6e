package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/npy"
)

// makeReports writes a report of every kind into the working directory and returns their
// names.
func makeReports(t *testing.T) (pages []string) {
	t.Helper()
	add := func(page string, args ...string) {
		succeed(t, args...)
		pages = append(pages, page)
	}
	add("demo/report.html", "demo", "-n", "2000", "-o", "demo", "-q")
	must(t, os.Mkdir("sets", 0o777))
	x, y := synthetic.TwoMoons(100, 0.05, 1)
	must(t, npy.WriteArchive("sets/sindhwani_2moons.npz", []npy.Entry{
		{Name: "X", Shape: []int{100, 2}, Data: x.Data}, {Name: "y", Data: y.Index},
		{Name: "Xt", Shape: []int{100, 2}, Data: x.Data}, {Name: "yt", Data: y.Index},
	}))
	add("moons.html", "reproduce", "moons", "--data", "sets", "--report", "moons.html", "-q")
	add("digits.html", "fit", "--model", "lgc", "demo/X.npy", "demo/y.npy", "--labels", "60", "--pca", "30", "--report", "digits.html", "-q")
	// Long names of classes and of points, many classes, and a regression.
	names, values := "label\n", "value\n"
	for i := range 100 {
		names += fmt.Sprintf("a-rather-long-name-of-a-class-that-has-no-spaces-at-all-%d\n", i%12)
		values += fmt.Sprintf("%d.5\n", i%7)
	}
	writeFile(t, "names.csv", []byte(names))
	writeFile(t, "values.csv", []byte(values))
	must(t, npy.WriteFile("X.npy", []int{100, 2}, x.Data))
	add("names.html", "fit", "--model", "harmonic", "X.npy", "names.csv", "--labels", "50", "--report", "names.html", "-q")
	add("values.html", "fit", "--model", "rls", "X.npy", "values.csv", "--labels", "60", "--gamma-a", "0.01", "--sigma", "0.5", "--report", "values.html", "-q")
	return pages
}
