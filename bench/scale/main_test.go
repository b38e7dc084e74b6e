package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		from, upTo float64
		want       []int
	}{
		{1e4, 1e6, []int{10_000, 30_000, 100_000, 300_000, 1_000_000}},
		{1e4, 2e5, []int{10_000, 30_000, 100_000, 200_000}},
		{1e7, 1e7, []int{10_000_000}},
	} {
		if got := (&options{from: c.from, upTo: c.upTo}).sizes(); !slices.Equal(got, c.want) {
			t.Errorf("sizes from %g to %g: %v, want %v", c.from, c.upTo, got, c.want)
		}
	}
}

func TestExponent(t *testing.T) {
	var rows []measured
	for _, n := range []int{1000, 5000, 40_000} {
		rows = append(rows, measured{Points: n, Seconds: 3e-4 * math.Pow(float64(n), 1.25)})
	}
	if got := exponent(rows); math.Abs(got-1.25) > 1e-12 {
		t.Errorf("exponent %v of n^1.25", got)
	}
}

func TestFaultsOfFlags(t *testing.T) {
	err := (&options{from: 10, upTo: 5, k: 0, pairs: 1, labels: 11, queries: 1}).check()
	for _, want := range []string{"-from 10", "-k is 0", "-labels is 11"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

// All stages at two sizes; then again, where all is done.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	o := options{from: 2000, upTo: 6000, k: 5, pairs: 5, labels: 200, queries: 300, work: filepath.Join(dir, "work"), out: filepath.Join(dir, "out")}
	again := o
	if err := run(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		text, err := os.ReadFile(filepath.Join(o.out, "scale.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := read()
	for _, want := range []string{"n = 2,000 | n = 6,000", "| graph |", "| prediction, propagation |", "points/s"} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not in\n%s", want, first)
		}
	}
	if _, err := os.Stat(filepath.Join(o.out, "scale.svg")); err != nil {
		t.Error(err)
	}
	again.program = filepath.Join(dir, "none")
	if err := run(context.Background(), &again); err != nil {
		t.Fatalf("a run whose stages are all done starts the program: %v", err)
	}
	if second := read(); second != first {
		t.Errorf("the table of a run that is done differs:\n%s\n%s", first, second)
	}
	again.k = 6
	if err := run(context.Background(), &again); err == nil {
		t.Error("with another number of neighbours stages are taken as done")
	}
}

// The stages in parts, and what the spread labels err.
func TestRunInParts(t *testing.T) {
	dir := t.TempDir()
	o := options{from: 6000, upTo: 6000, k: 8, pairs: 5, labels: 3000, queries: 1000, parts: 3, classes: 5, keep: true,
		work: filepath.Join(dir, "work"), out: filepath.Join(dir, "out")}
	if err := run(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.out, "scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| graph, in parts |", "| label spreading, in parts |", "graph, in parts with n = 6,000: recall ",
		"% wrong"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for name, want := range map[string]bool{"graph": true, "answers.npy": true, "graph-parts": false, "fit-parts": false} {
		if _, err := os.Stat(filepath.Join(o.work, "6000", name)); (err == nil) != want {
			t.Errorf("%s: %v; there: want %v", name, err, want)
		}
	}
	var wrong float64
	_, note, _ := strings.Cut(string(text), "label spreading, in parts with n = 6,000: ")
	if _, err := fmt.Sscanf(note, "%f %% wrong", &wrong); err != nil || !(wrong < 50) {
		t.Errorf("%.1f %% wrong (%v); four of five would be by chance", wrong, err)
	}
}
