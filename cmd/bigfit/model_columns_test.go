package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
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

// A model keeps the name of the column of ids: new tables are named by it in predict and update, without --id, and so are
// arrays by the table beside them.
func TestModelIDColumn(t *testing.T) {
	t.Chdir(t.TempDir())
	var points, more, labels strings.Builder
	points.WriteString("serial,width,height\n")
	more.WriteString("width,serial,height\n")
	labels.WriteString("serial,class\n")
	for i := range 60 {
		fmt.Fprintf(&points, "s%d,%d,%d\n", i, 9*(i%3), i%7)
		if i < 12 {
			fmt.Fprintf(&labels, "s%d,c%d\n", i, i%3)
			fmt.Fprintf(&more, "%d,t%d,%d\n", 9*(i%3), i, i%5)
		}
	}
	for name, text := range map[string]*strings.Builder{"x.csv": &points, "more.csv": &more, "y.csv": &labels} {
		must(t, os.WriteFile(name, []byte(text.String()), 0o666))
	}

	for _, model := range []string{"lgc", "rls"} {
		succeed(t, "fit", "x.csv", "y.csv", "--id", "serial", "--model", model, "-o", "m.npz", "-q")
		o := bigfit(t, "predict", "m.npz", "more.csv", "-o", "p.csv")
		if o.code != 0 || !strings.Contains(o.stderr, `column "serial" holds the ids of the points, as it does of those of the model`) ||
			!strings.Contains(fileText(t, "p.csv"), "\nt7,") {
			t.Errorf("%s: %+v\n%s", model, o, fileText(t, "p.csv"))
		}
	}
	succeed(t, "fit", "x.csv", "y.csv", "--id", "serial", "--model", "lgc", "-o", "m.npz", "-q")
	succeed(t, "update", "m.npz", "-X", "more.csv", "-o", "grown.npz", "--predictions", "all.csv", "-q")
	if all := fileText(t, "all.csv"); !strings.Contains(all, "\ns59,") || !strings.Contains(all, "\nt11,") {
		t.Errorf("answers after an update: %s", all)
	}
	succeed(t, "predict", "grown.npz", "x.csv", "-o", "p.csv", "-q")
	if !strings.Contains(fileText(t, "p.csv"), "\ns59,") {
		t.Error("the updated model has lost the column of ids")
	}

	must(t, os.Mkdir("new", 0o777))
	must(t, npy.WriteFile("new/part.npy", []int{3, 2}, []float64{0, 1, 9, 2, 18, 3}))
	must(t, os.WriteFile("new/part.csv", []byte("serial,colour\nu1,red\nu2,red\nu3,blue\n"), 0o666))
	succeed(t, "predict", "m.npz", "new", "-o", "p.csv", "-q")
	if !strings.Contains(fileText(t, "p.csv"), "\nu2,") {
		t.Errorf("ids beside arrays: %s", fileText(t, "p.csv"))
	}

	// A number is the place of a column: numbers above the columns of another table are no names of ids.
	lines := strings.SplitAfterN(points.String(), "\n", 2)
	must(t, os.WriteFile("bare.csv", []byte(lines[1]), 0o666))
	must(t, os.WriteFile("numbers.csv", []byte("0,1\n0,1\n9,2\n"), 0o666))
	succeed(t, "fit", "bare.csv", "y.csv", "--id", "0", "--model", "lgc", "-o", "m.npz", "-q")
	succeed(t, "predict", "m.npz", "numbers.csv", "-o", "p.csv", "-q")
	if p := fileText(t, "p.csv"); !strings.HasPrefix(p, "row,") {
		t.Errorf("ids of a column without a name: %s", p)
	}
}
