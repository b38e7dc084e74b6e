package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/view/chart"
)

// save writes scale.json, scale.md and, from two sizes on, scale.svg, and returns the table.
func save(o *options, rows []measured) (string, error) {
	if err := writeJSON(filepath.Join(o.out, "scale.json"), rows); err != nil {
		return "", err
	}
	text := table(o, rows)
	picture := lines(o, rows)
	// One size makes no line.
	if len(picture.Series[0].X) > 1 {
		drawn, err := picture.Draw()
		if err != nil {
			return "", err
		}
		err = atomicfile.Atomically(filepath.Join(o.out, "scale.svg"),
			func(w io.Writer) error { return drawn.Write(w, ".svg", 16, 11) })
		if err != nil {
			return "", err
		}
	}

	return text, atomicfile.Atomically(filepath.Join(o.out, "scale.md"), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// writeJSON writes v to a file as indented JSON, or leaves the old file as it was.
func writeJSON(path string, v any) error {
	return atomicfile.Atomically(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

// byStage returns the rows of each stage, in the order of the stages.
func byStage(o *options, rows []measured) [][]measured {
	var out [][]measured
	for _, s := range o.stages() {
		var of []measured
		for _, r := range rows {
			if r.Stage == s.name {
				of = append(of, r)
			}
		}
		out = append(out, of)
	}

	return out
}

// table returns a table with a row for each stage and a column for each size: seconds and
// the peak of memory.
func table(o *options, rows []measured) string {
	stages := byStage(o, rows)
	var b strings.Builder
	fmt.Fprintf(&b, "Points of a manifold in %d coordinates, %d neighbours, %d pairs, %d labels, %s "+
		"new points; seconds of whole runs, peak memory; %s\n\n| stage |",
		columns, o.k, o.pairs, o.labels, count(o.queries), simd.Path())
	for _, r := range stages[0] {
		fmt.Fprintf(&b, " n = %s |", count(r.Points))
	}
	b.WriteString(" time ~ |\n|---|")
	b.WriteString(strings.Repeat("---|", len(stages[0])+1) + "\n")

	for _, of := range stages {
		fmt.Fprintf(&b, "| %s |", of[0].Stage)
		for _, r := range of {
			fmt.Fprintf(&b, " %s, %.2g GiB |", duration(r.Seconds), float64(r.Peak)/(1<<30))
		}
		fmt.Fprintf(&b, " %s |\n", growth(of))
	}

	// The notes of the largest size stand below the table.
	b.WriteString("\n")
	for _, of := range stages {
		if r := of[len(of)-1]; r.Note != "" {
			fmt.Fprintf(&b, "%s with n = %s: %s.\n", r.Stage, count(r.Points), r.Note)
		}
	}
	return b.String()
}

// duration formats seconds with two digits, or as a whole number from 10 s on.
func duration(seconds float64) string {
	if seconds < 10 {
		return fmt.Sprintf("%.2g s", seconds)
	}
	return fmt.Sprintf("%.0f s", seconds)
}

// growth formats the growth of the time of a stage as a power of n. It is empty for one size.
func growth(of []measured) string {
	if len(of) < 2 {
		return ""
	}
	return fmt.Sprintf("n^%.2f", exponent(of))
}

// exponent returns the slope of the least-squares line through log seconds over log n.
func exponent(of []measured) float64 {
	var sx, sy, sxx, sxy float64
	for _, r := range of {
		x := math.Log(float64(r.Points))
		y := math.Log(r.Seconds)
		sx += x
		sy += y
		sxx = sxx + x*x
		sxy = sxy + x*y
	}

	m := float64(len(of))
	return (m*sxy - sx*sy) / (m*sxx - sx*sx)
}

// lines draws the seconds of each stage over the number of points.
func lines(o *options, rows []measured) *chart.Lines {
	out := &chart.Lines{Title: "Time over the number of points", XLabel: "points", YLabel: "seconds",
		XLog: true, YLog: true}
	for _, of := range byStage(o, rows) {
		s := chart.Series{Name: of[0].Stage}
		if g := growth(of); g != "" {
			s.Name += " ~ " + g
		}
		for _, r := range of {
			s.X = append(s.X, float64(r.Points))
			s.Y = append(s.Y, r.Seconds)
		}
		out.Series = append(out.Series, s)
	}

	return out
}
