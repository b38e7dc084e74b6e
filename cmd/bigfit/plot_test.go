package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"
)

func TestPlot(t *testing.T) {
	intoMoons(t)
	writeFile(t, "order.json", []byte(`[{"x": 2, "k": 10, "mean": 1}, {"x": 1, "k": 2, "mean": 1}, {"x": 1, "k": 10, "mean": 2}]`))
	drawn := map[plotKind]bool{}
	for _, c := range []struct {
		line string
		kind plotKind
		text []string // in the picture
	}{
		{"plot model.npz -X X.npy -y y.npy --levels=-0.5,0,0.5", surfacePlot, []string{"lapsvm", "no label"}},
		{"plot model.npz X.npy --title moons", surfacePlot, []string{"moons"}},
		{"plot values.npz -X X.npy", surfacePlot, []string{"rls"}},
		{"plot clusters.npz -X X.npy -y labels.npy", surfacePlot, []string{"spectral"}},
		{"plot eigs.npz --height 7", eigenvaluePlot, []string{"eigenvalue", "number"}},
		{"plot embedding.npy -y y.npy --max-points 50", scatterPlot, []string{"coordinate 1", "coordinate 2"}},
		{"plot embedding.npy --columns 2,1", scatterPlot, nil},
		{"plot table.json --x gamma_i --by gamma_a --log-x", curvePlot, []string{"gamma_i", "mean", "gamma_a 0.1", "gamma_a 1", "0<"}},
		{"plot table.json --x gamma_i --by gamma_a --value gamma_a --bars mean", curvePlot, nil},
		{"plot order.json --x x --by k", curvePlot, []string{"k 2", "k 10"}},
	} {
		args := strings.Fields(c.line)
		var s plotSummary
		must(t, json.Unmarshal([]byte(succeed(t, append(args, "-o", "a.svg", "--json", "-q")...)), &s))
		if s.Kind != plotKindNames[c.kind] || s.Marks == 0 {
			t.Errorf("%s: %+v", c.line, s)
		}
		a := readFile(t, "a.svg")
		succeed(t, append(args, "-o", "b.svg", "-q", "--threads", "1")...)
		if !bytes.Equal(a, readFile(t, "b.svg")) {
			t.Errorf("%s: other bytes the second time", c.line)
		}
		dec := xml.NewDecoder(bytes.NewReader(a))
		var err error
		for err == nil {
			_, err = dec.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", c.line, err)
		}
		last := -1
		for _, w := range c.text {
			at := strings.Index(string(a), ">"+w)
			if at < 0 {
				t.Errorf("%s: no %q in the picture", c.line, w)
			}
			if strings.HasPrefix(w, "k ") && at < last {
				t.Errorf("%s: %q is not in numeric order", c.line, w)
			}
			last = at
		}

		// The formats of files are the same for all pictures of a kind.
		if drawn[c.kind] {
			continue
		}
		drawn[c.kind] = true
		succeed(t, append(args, "-o", "a.pdf", "-q")...)
		if !bytes.HasPrefix(readFile(t, "a.pdf"), []byte("%PDF-")) {
			t.Errorf("%s: no PDF", c.line)
		}
		succeed(t, append(args, "-o", "a.png", "-q")...)
		img, err := png.Decode(bytes.NewReader(readFile(t, "a.png")))
		must(t, err)
		if b := img.Bounds(); b.Dx() < 900 || b.Dy() < 300 {
			t.Errorf("%s: a picture of %v", c.line, b)
		}
	}
	if out := succeed(t, "plot", "embedding.npy", "--max-points", "50", "-q"); !strings.Contains(out, "50 points (70 more left out)") {
		t.Errorf("%s", out)
	}
}

func TestBadPlot(t *testing.T) {
	intoMoons(t)
	writeFile(t, "text.json", []byte("points"))
	writeFile(t, "empty.json", []byte("{}"))
	writeFile(t, "words.json", []byte(`[{"x": "one", "mean": 1}]`))
	writeFile(t, "nothing.json", []byte(`[{"x": 1, "mean": null}]`))
	writeFile(t, "twice.json", []byte(`[{"x": 1, "mean": 1}, {"x": 1, "mean": 2}]`))
	truncate(t, "model.npz", "cut.npz", -50)
	for _, c := range []struct {
		line string
		want []string
	}{
		{"plot", []string{"the file to draw", "see bigfit plot --help"}},
		{"plot nowhere.npz", []string{"nowhere.npz"}},
		{"plot nowhere.npy", []string{"nowhere.npy"}},
		{"plot nowhere.json --x a", []string{"nowhere.json"}},
		{"plot cut.npz -X X.npy", []string{"cut.npz"}},
		{"plot eigs.npz -o a.gif", []string{"a.gif", ".png, .svg, .pdf"}},
		{"plot eigs.npz --width 1", []string{"--width is 1"}},
		{"plot eigs.npz --height nan", []string{"--height is NaN"}},
		{"plot eigs.npz -X X.npy", []string{"--points is not for eigenvalues"}},
		{"plot eigs.npz X.npy", []string{"--points is not for eigenvalues"}},
		{"plot model.npz X.npy X.npy", []string{"3 arguments are given", "see bigfit plot --help"}},
		{"plot eigs.npz --levels 0", []string{"--levels is not for eigenvalues"}},
		{"plot graph.npz", []string{"graph.npz is a graph"}},
		{"plot model.npz", []string{"give them with -X"}},
		{"plot model.npz -X wide.npy", []string{"wide.npy", "3"}},
		{"plot model.npz -X X.npy -y wide.npy", []string{"wide.npy"}},
		{"plot model.npz -X X.npy --x a", []string{"--x is not for the decision surface"}},
		{"plot clusters.npz -X X.npy --levels 0", []string{"4 classes"}},
		{"plot embedding.npy --columns 1", []string{"--columns is [1]"}},
		{"plot embedding.npy --columns 1,3", []string{"2 columns", "columns 1 and 3"}},
		{"plot embedding.npy --max-points 0", []string{"--max-points is 0"}},
		{"plot table.json", []string{"--x", "gamma_a, gamma_i, mean, std_err"}},
		{"plot twice.json --x x", []string{"several rows with x = 1", "--by"}},
		{"plot table.json --x gamma", []string{`no field "gamma"`, "gamma_i"}},
		{"plot text.json --x a", []string{"text.json", "not a table"}},
		{"plot empty.json --x a", []string{"0 lists"}},
		{"plot words.json --x x", []string{"row 0", "one"}},
		{"plot nothing.json --x x", []string{"no row has a mean"}},
		{"plot table.json --x gamma_i -o table.json", []string{"must end in .png"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
}
