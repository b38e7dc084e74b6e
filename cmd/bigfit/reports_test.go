package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/browsertest"
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
	add("digits.html", "fit", "--model", "lgc", "demo/X.npy", "demo/y.npy", "--labels", "60", "--pca", "30", "--report", "digits.html", "-q")
	add("compare.html", "compare", "demo/X.npy", "demo/y.npy", "--models", "knn,lgc", "--labels-per-class", "2,5", "--splits", "2", "--pca", "20", "--report", "compare.html", "-q")
	// Long names of classes and of points, many classes, and a regression.
	names, values := "label\n", "value\n"
	for i := range 100 {
		names += fmt.Sprintf("a-rather-long-name-of-a-class-that-has-no-spaces-at-all-%d\n", i%12)
		values += fmt.Sprintf("%d.5\n", i%7)
	}
	writeFile(t, "names.csv", []byte(names))
	writeFile(t, "values.csv", []byte(values))
	x, _ := synthetic.TwoMoons(100, 0.05, 1)
	must(t, npy.WriteFile("X.npy", []int{100, 2}, x.Data))
	add("audit.html", "audit", "demo/X.npy", "demo/y.npy", "-o", "audit.csv", "-q")
	add("audit-names.html", "audit", "X.npy", "names.csv", "-o", "audit-names.csv", "-q")
	add("names.html", "fit", "--model", "harmonic", "X.npy", "names.csv", "--labels", "50", "--report", "names.html", "-q")
	add("values.html", "fit", "--model", "rls", "X.npy", "values.csv", "--labels", "60", "--gamma-a", "0.01", "--sigma", "0.5", "--report", "values.html", "-q")
	inside := "label\n"
	for i := range 100 {
		inside += map[bool]string{true: "1\n", false: "-1\n"}[i%4 == 0]
	}
	writeFile(t, "inside.csv", []byte(inside))
	add("inside.html", "fit", "--model", "oneclass", "X.npy", "inside.csv", "--report", "inside.html", "-q")
	return pages
}

// TestReportsInBrowser opens the reports of all kinds in a real browser.
func TestReportsInBrowser(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	browsertest.Check(t, dir, makeReports(t))
}

// TestFitReport checks what the page of a fit holds, and what is refused.
func TestFitReport(t *testing.T) {
	intoBlobs(t)
	ids := "id\n"
	for i := range blobCount {
		ids += fmt.Sprintf("blob <%d>\n", i)
	}
	writeFile(t, "ids.csv", []byte(ids))
	succeed(t, "fit", "--model", "lgc", "X.npy", "y.npy", "--labels", "20", "--ids", "ids.csv", "--report", "r.html", "-q")
	page := string(readFile(t, "r.html"))
	for _, w := range []string{"<h1>Report on X.npy</h1>", "90 items, 20 labels: about ", "90 points, 20 with a label that was used, 3 classes", "Coloured by answer", "Coloured by certainty",
		"Probability and share of right answers", "blob &lt;", "<dt>alpha</dt>", "<dt>weights</dt>", "<dd>X.npy</dd>", ">graph</text>"} {
		if !strings.Contains(page, w) {
			t.Errorf("the report lacks %q", w)
		}
	}
	// Without points there are the graph's places; without a graph no settings of one.
	succeed(t, "graph", "X.npy", "-q")
	succeed(t, "fit", "--model", "harmonic", "--graph", "graph.npz", "-y", "y.npy", "--report", "g.html", "-q")
	succeed(t, "fit", "--model", "rls-linear", "X.npy", "y.npy", "--gamma-a", "1", "--report", "l.html", "-q")
	if page := string(readFile(t, "l.html")); strings.Contains(page, "<dt>weights</dt>") || !strings.Contains(page, "principal component 1") {
		t.Error("the report of a linear model")
	}
	fail(t, 2, []string{"--report", ".html"}, "fit", "X.npy", "y.npy", "--report", "r.txt")
	fail(t, 2, []string{"--report", ".html"}, "fit", "X.npy", "y.npy", "--report=")
	fail(t, 1, []string{"nowhere/r.html cannot be written"}, "fit", "X.npy", "y.npy", "--report", "nowhere/r.html")
}
