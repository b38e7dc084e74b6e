package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A model of a table keeps the names of its columns, also after an update: tables with more columns, or with columns in
// another order, give the same answers, and those without one of them are refused, by predict, update and next.
func TestModelColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	const n = 90
	var points, wider, turned, missing, labels strings.Builder
	points.WriteString("width,height,depth,weight\n")
	wider.WriteString("maker,width,height,colour,depth,weight\n")
	turned.WriteString("height,width,depth,weight\n")
	missing.WriteString("width,height,depth,mass\n")
	labels.WriteString("row,class\n")
	for i := range n {
		class := i % 3
		var a [4]float64
		for j := range a {
			a[j] = float64(4*class*(j+1)) + float64((i*7+j*13)%11)/10
		}
		fmt.Fprintf(&points, "%v,%v,%v,%v\n", a[0], a[1], a[2], a[3])
		fmt.Fprintf(&wider, "m%d,%v,%v,red,%v,%v\n", i, a[0], a[1], a[2], a[3])
		fmt.Fprintf(&turned, "%v,%v,%v,%v\n", a[1], a[0], a[2], a[3])
		fmt.Fprintf(&missing, "%v,%v,%v,%v\n", a[0], a[1], a[2], a[3])
		if i < 30 {
			fmt.Fprintf(&labels, "%d,c%d\n", i, class)
		}
	}
	for name, text := range map[string]*strings.Builder{"x.csv": &points, "wider.csv": &wider, "turned.csv": &turned, "missing.csv": &missing, "y.csv": &labels} {
		must(t, os.WriteFile(name, []byte(text.String()), 0o666))
	}

	for _, model := range []string{"lgc", "rls"} {
		succeed(t, "fit", "x.csv", "y.csv", "--model", model, "-o", "m.npz", "-q")
		if model == "lgc" {
			succeed(t, "update", "m.npz", "-X", "wider.csv", "-o", "more.npz", "-q")
			must(t, os.Rename("more.npz", "m.npz"))
		}
		succeed(t, "predict", "m.npz", "x.csv", "-o", "p.csv", "-q")
		o := bigfit(t, "predict", "m.npz", "wider.csv", "-o", "q.csv")
		if o.code != 0 || !strings.Contains(o.stderr, "left out, as the model was fitted without: maker, colour") || fileText(t, "p.csv") != fileText(t, "q.csv") {
			t.Errorf("%s: more columns: %+v", model, o)
		}
		o = bigfit(t, "predict", "m.npz", "turned.csv", "-o", "q.csv")
		if o.code != 0 || !strings.Contains(o.stderr, "the columns height, width, depth, weight are taken in the order of those of the model, width, height, depth, weight") ||
			fileText(t, "p.csv") != fileText(t, "q.csv") {
			t.Errorf("%s: another order: %+v", model, o)
		}
		fail(t, 2, []string{`missing.csv: the model was fitted to a column "weight"`}, "predict", "m.npz", "missing.csv", "-o", "no.csv")
	}
	succeed(t, "fit", "x.csv", "y.csv", "--model", "lgc", "-o", "m.npz", "-q")
	fail(t, 2, []string{"was fitted to a column"}, "update", "m.npz", "-X", "missing.csv", "-o", "no.npz")
	fail(t, 2, []string{"was fitted to a column", "labels are given by -y: -y missing.csv"}, "update", "m.npz", "missing.csv", "-o", "no.npz")
	succeed(t, "next", "m.npz", "-X", "turned.csv", "-n", "3", "-o", "ask.csv", "-q")
}
