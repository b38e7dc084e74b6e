package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestEdges walks from a table of edges with texts as ids, and labels by these, to answers, new labels and clusters.
func TestEdges(t *testing.T) {
	t.Chdir(t.TempDir())
	// Two rings of thirty, joined by one weak edge.
	var b strings.Builder
	b.WriteString("from,to,weight,road\n")
	for _, side := range []string{"north", "south"} {
		for i := range 30 {
			fmt.Fprintf(&b, "%s %d,%s %d,1,x\n%s %d,%s %d,1,x\n", side, i, side, (i+1)%30, side, i, side, (i+2)%30)
		}
	}
	b.WriteString("north 0,south 0,0.1,bridge\n")
	must(t, os.WriteFile("roads.csv", []byte(b.String()), 0o600))
	must(t, os.WriteFile("other.csv", []byte("from,to\na,b\n"), 0o600))
	must(t, os.WriteFile("labels.csv", []byte("id,label\nsouth 15,S\nnorth 15,N\nnorth 20,N\nsouth 3,S\n"), 0o600))

	o := bigfit(t, "edges", "roads.csv", "-o", "roads.npz")
	if o.code != 0 || !strings.Contains(o.stderr, `edges from column "from" to column "to", weights in column "weight"`) {
		t.Fatal(o.stderr)
	}
	if !strings.Contains(o.out, "60 points, 121 edges") || !strings.Contains(o.out, "the ids of its points are in roads.ids.csv") {
		t.Error(o.out)
	}
	if text := string(readFile(t, "roads.ids.csv")); !strings.HasPrefix(text, "id,edges\nnorth 0,5\nnorth 1,4\n") {
		t.Errorf("%.60q", text)
	}

	// Labels are joined, and answers named, by these ids.
	for _, model := range []string{"harmonic", "auto"} {
		succeed(t, "fit", "--model", model, "--graph", "roads.npz", "labels.csv", "-o", "m.npz", "--predictions", "p.csv", "-q")
		lines := strings.Split(strings.TrimSpace(string(readFile(t, "p.csv"))), "\n")
		if len(lines) != 61 {
			t.Fatalf("%s: %d lines", model, len(lines))
		}
		for _, line := range lines[1:] {
			if id, label, _ := strings.Cut(line, ","); strings.ToUpper(id[:1]) != label[:1] {
				t.Errorf("%s: %s", model, line)
			}
		}
	}
	succeed(t, "next", "m.npz", "--graph", "roads.npz", "-n", "2", "-o", "next.csv", "-q")
	if text := string(readFile(t, "next.csv")); !strings.Contains(text, "\nnorth ") && !strings.Contains(text, "\nsouth ") {
		t.Error(text)
	}
	// The labels that next asked for join the model, with the graph.
	o = bigfit(t, "update", "m.npz", "-y", "next.csv", "-o", "m2.npz")
	o.check(t, 2, []string{"does not keep it; give the graph with --graph, or fit anew"}, nil)
	succeed(t, "edges", "other.csv", "-o", "other.npz", "-q")
	o = bigfit(t, "update", "m.npz", "-y", "next.csv", "--graph", "other.npz", "-o", "m2.npz")
	o.check(t, 2, []string{"m.npz was not made from the graph in other.npz"}, nil)
	if out := succeed(t, "update", "m.npz", "-y", "next.csv", "--graph", "roads.npz", "-o", "m2.npz", "--predictions", "p.csv", "-q"); !strings.Contains(out,
		"2 labels joined 4") {
		t.Error(out)
	}
	if text := string(readFile(t, "p.csv")); !strings.Contains(text, "\nnorth 7,N,") {
		t.Error(text)
	}
	// Models are compared on the graph alone.
	if out := succeed(t, "compare", "--graph", "roads.npz", "p.csv:id,label", "--models", "auto,poisson", "--labels-per-class", "3", "--splits", "2",
		"--report", "c.html", "-q"); !strings.Contains(out, "| 3 a class | poisson |") {
		t.Error(out)
	}
	fail(t, 2, []string{"knn needs points (-X); models of a graph alone are auto, eigenmap, harmonic, lgc,"}, "compare", "--graph", "roads.npz", "labels.csv",
		"--models", "lgc,knn", "--labels", "3")
	succeed(t, "cluster", "roads.npz", "-c", "2", "-o", "c.csv", "-q")
	text := string(readFile(t, "c.csv"))
	if strings.Count(text, ",0\n") != 30 || !strings.Contains(text, "\nnorth 7,") {
		t.Error(text)
	}
	succeed(t, "embed", "roads.npz", "-o", "e.csv", "-q")
	if text := string(readFile(t, "e.csv")); !strings.Contains(text, "\nsouth 7,") {
		t.Error(text)
	}

	// A folder is the same graph, and has its ids beside it as well.
	succeed(t, "edges", "roads.csv", "-o", "folder/", "-q")
	if o := bigfit(t, "diff", "roads.npz", "folder"); o.code != 0 {
		t.Error(o.out, o.stderr)
	}
	succeed(t, "fit", "--model", "lgc", "--graph", "folder/", "labels.csv", "-o", "m.npz", "-q")

	// With the ids of points the graph has their order.
	must(t, os.WriteFile("ids.txt", []byte("south 1\nnorth 4\nalone\n"), 0o600))
	must(t, os.WriteFile("few.csv", []byte("source,target\nnorth 4,south 1\n"), 0o600))
	if out := succeed(t, "edges", "few.csv", "--ids", "ids.txt", "-o", "few.npz", "-q"); !strings.Contains(out, "3 points, 1 edge,") ||
		!strings.Contains(out, "1 isolated point") {
		t.Error(out)
	}
	if text := string(readFile(t, "few.ids.csv")); text != "id,edges\nsouth 1,1\nnorth 4,1\nalone,0\n" {
		t.Error(text)
	}

	// Ids of another graph name nothing.
	must(t, os.WriteFile("roads.ids.csv", []byte("id\na\nb\n"), 0o600))
	o = bigfit(t, "cluster", "roads.npz", "-c", "2", "-o", "c.csv")
	if text := string(readFile(t, "c.csv")); o.code != 0 || !strings.HasPrefix(text, "row,cluster\n0,") ||
		!strings.Contains(o.stderr, "none taken: roads.ids.csv beside the graph holds 2 ids for 60 points") {
		t.Error(o.stderr, text)
	}
}

// TestEdgesErrors looks at refusals, which leave no file.
func TestEdgesErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("e.csv", []byte("source,target,length\na,b,1\n"), 0o600))
	must(t, os.WriteFile("h.csv", []byte("a,b\nb,c\n"), 0o600))
	fail(t, 2, []string{"e.csv: does column \"length\" hold the weights of the edges? A weight is large where the ends are close"},
		"edges", "e.csv")
	fail(t, 2, []string{"h.csv: line 1: the line a,b may be an edge or the names of the columns; give --no-header"}, "edges", "h.csv")
	fail(t, 2, []string{"takes one argument, the table of the edges"}, "edges")
	fail(t, 2, []string{"graph.csv"}, "edges", "e.csv", "-o", "graph.csv")
	fail(t, 2, []string{"e.csv has no column \"w\""}, "edges", "e.csv", "--weight", "w")
	fail(t, 2, []string{"no such file"}, "edges", "none.csv")
}
