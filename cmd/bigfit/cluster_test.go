package main

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/sparse"
)

func int64s(t *testing.T, path string) []int64 {
	t.Helper()
	x, err := npy.ReadFile(path, 0)
	must(t, err)
	v, err := x.Int64s()
	must(t, err)
	return v
}

func clusterJSON(t *testing.T, line string) clusterSummary {
	t.Helper()
	var s clusterSummary
	must(t, json.Unmarshal([]byte(succeed(t, append(strings.Fields(line), "--json", "-q")...)), &s))
	return s
}

func TestCluster(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-k", "12", "-q")
	for _, line := range []string{
		"cluster graph.npz -c 3 -y y.npy", "cluster -X X.npy -k 12 --clusters 3 -y y.npy --row-normalize", "cluster graph.npz -X X.npy -c 3 -y y.npy",
		"cluster graph.npz -X X.npy -c 3 -y y.npy --gamma 0.01 --sigma 30",
	} {
		s := clusterJSON(t, line)
		if s.NMI == nil || !(*s.NMI > 0.999) || !(*s.Rand > 0.999) || s.Compared != blobCount || len(s.Sizes) != 3 {
			t.Errorf("%s: %+v", line, s)
		}
		labels := int64s(t, "labels.npy")
		sizes := make([]int, 3)
		for _, c := range labels {
			sizes[c]++
		}
		if len(labels) != blobCount || !slices.Equal(sizes, s.Sizes) {
			t.Errorf("%s: sizes %v, printed %v", line, sizes, s.Sizes)
		}
	}
	out := succeed(t, "cluster", "graph.npz", "-c", "2", "--rule", "sweep", "-q")
	for _, w := range []string{"90 points in 2 clusters", "ncut", "Cheeger", "cut/volume", "no partition has less"} {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
	first := readFile(t, "labels.npy")
	succeed(t, "cluster", "graph.npz", "-c", "2", "--rule", "sweep", "-q", "--threads", "1")
	if string(readFile(t, "labels.npy")) != string(first) {
		t.Error("one thread gives other clusters")
	}
	// The model knows new points.
	s := clusterJSON(t, "cluster -X X.npy -k 12 -c 3 --gamma 0.01 --sigma 30 --model m.npz")
	trained := int64s(t, "labels.npy")
	succeed(t, "predict", "m.npz", "-X", "X.npy", "-o", "p.npy", "-q")
	if got := int64s(t, "p.npy"); !slices.Equal(got, trained) || s.Bound != nil {
		t.Errorf("predicted %v, clusters %v", got, trained)
	}
	// Components that are too small have no cluster.
	sparseFile(t, "parts.npz", 7, 7, map[[2]int]float64{{0, 1}: 1, {1, 0}: 1, {1, 2}: 1, {2, 1}: 1, {3, 4}: 1, {4, 3}: 1, {4, 5}: 1, {5, 4}: 1})
	if s := clusterJSON(t, "cluster parts.npz -c 2 --min-component 2"); s.LeftOut != 1 || s.NCut != 0 || s.Components != 3 {
		t.Errorf("%+v", s)
	}
	if got := int64s(t, "labels.npy"); !slices.Equal(got, []int64{0, 0, 0, 1, 1, 1, -1}) {
		t.Errorf("labels %v", got)
	}
}

func TestBadCluster(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-q")
	must(t, npy.WriteFile("short.npy", nil, []int64{1, 2}))
	for _, c := range []struct {
		line string
		want []string
	}{
		{"cluster", []string{"a graph, or points, are needed", "see bigfit cluster --help"}},
		{"cluster graph.npz graph.npz", []string{"was not made from the points in graph.npz"}},
		{"cluster nowhere.npz", []string{"nowhere.npz"}},
		{"cluster graph.npz -c 0", []string{"--clusters is 0"}},
		{"cluster graph.npz -c many", []string{`"many"`, "neither auto nor a number"}},
		{"cluster graph.npz -c auto --rule sign", []string{"--rule sign cuts in two", "is auto"}},
		{"cluster -X X.npy --gamma 1 -c auto", []string{"--clusters auto", "without --gamma", "give the number"}},
		{"cluster graph.npz -c auto --min-component 91", []string{"name the number"}},
		{"cluster graph.npz -c 91", []string{"--clusters is 91", "90 points"}},
		{"cluster graph.npz -c 3 --rule sign", []string{"--rule sign cuts in two", "is 3"}},
		{"cluster graph.npz --rule best", []string{`"best"`, "k-means", "sign", "sweep"}},
		{"cluster graph.npz --rule sign --row-normalize", []string{"--row-normalize", "k-means"}},
		{"cluster graph.npz --restarts 0", []string{"--restarts is 0"}},
		{"cluster graph.npz --min-component 0", []string{"--min-component is 0"}},
		{"cluster graph.npz --min-component 91", []string{"2 clusters of 0 vertices"}},
		{"cluster graph.npz --tolerance 2", []string{"--tolerance is 2"}},
		{"cluster graph.npz -y short.npy", []string{"short.npy has 2 labels", "90 points"}},
		{"cluster graph.npz -X new.npy", []string{"graph.npz was not made from the points in new.npy"}},
		{"cluster graph.npz --gamma 1", []string{"--gamma needs the points"}},
		{"cluster -X X.npy --gamma 0", []string{"--gamma is 0", "positive"}},
		{"cluster -X X.npy --gamma 1 --rule sign", []string{"--rule", "without --gamma"}},
		{"cluster -X X.npy --gamma 1 -c 1", []string{"--clusters is 1", "at least 2"}},
		{"cluster -X X.npy --gamma 1 --kernel precomputed", []string{"precomputed"}},
		{"cluster -X X.npy --gamma 1 --kernel linear --sigma 2", []string{"--sigma is for --kernel gaussian or laplace, not linear"}},
		{"cluster -X X.npy --gamma 1 --degree 2", []string{"--degree is for --kernel polynomial, not gaussian"}},
		{"cluster -X X.npy --gamma 1 --sigma wide", []string{`--sigma is "wide"`}},
		{"cluster -X X.npy --gamma 1 --landmarks 0", []string{"--landmarks is 0"}},
		{"cluster -X X.npy --landmarks 5", []string{"--landmarks goes with --gamma"}},
		{"cluster graph.npz -k 3", []string{"--neighbors is 3", "was made with 8"}},
		{"cluster graph.npz -o graph.npz", []string{"both read and written"}},
		{"cluster -X X.npy --gamma 1 --model labels.npy", []string{"written twice"}},
		{"cluster graph.npz --memory-limit 100KB -c 40", []string{"--memory-limit"}},
		{"cluster -X X.npy --gamma 1 --memory-limit 300KB", []string{"functions", "--landmarks"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
	fail(t, 2, []string{"--model goes with --gamma"}, "cluster", "graph.npz", "--model", "m.npz")
	if _, err := os.Stat("labels.npy"); err == nil {
		t.Error("labels.npy is there")
	}
}

// TestClustersAuto: the three blobs are found, the gap and its runner-up are printed, and a ring of points is
// said to have no clusters.
func TestClustersAuto(t *testing.T) {
	intoBlobs(t)
	var s struct {
		Clusters int
		Choice   *cluster.Choice
		Warnings []string
	}
	out := succeed(t, "cluster", "X.npy", "-c", "auto", "--weights", "heat", "--json")
	must(t, json.Unmarshal([]byte(out), &s))
	if s.Clusters != 3 || s.Choice == nil || s.Choice.Clusters != 3 || !(s.Choice.Value > s.Choice.RunnerUp.Value) {
		t.Errorf("%s", out)
	}
	if text := succeed(t, "cluster", "X.npy", "-c", "auto"); !strings.Contains(text, "3 clusters by the eigengap") || !strings.Contains(text, "runner-up") {
		t.Errorf("the summary is %q", text)
	}

	ring := make([]float64, 0, 600)
	for i := range 300 {
		a := 2 * math.Pi * float64(i) / 300
		ring = append(ring, math.Cos(a), math.Sin(a))
	}
	must(t, npy.WriteFile("ring.npy", []int{300, 2}, ring))
	if o := bigfit(t, "cluster", "ring.npy", "-c", "auto"); o.code != 0 || !strings.Contains(o.stderr, "warning: the gaps of") {
		t.Errorf("exit code %d, %s", o.code, o.stderr)
	}
}

// TestIsolatedPoints: a few points without an edge are enough that no component is divided, which is said with what
// helps.
func TestIsolatedPoints(t *testing.T) {
	t.Chdir(t.TempDir())
	const n, alone = 40, 3
	var from, to []int32
	for i := range int32(n - 1) {
		from = append(from, i, i+1)
		to = append(to, i+1, i)
	}
	w, err := sparse.FromTriplets(n+alone, n+alone, from, to, slices.Repeat([]float64{1}, len(from)))
	must(t, err)
	must(t, sparse.WriteNPZ("path.npz", w, nil))
	o := bigfit(t, "cluster", "path.npz", "-c", "2")
	if o.code != 0 || !strings.Contains(o.stderr, "warning: 4 components are put together to 2 clusters") ||
		!strings.Contains(o.stderr, "--min-component 2 leaves") {
		t.Errorf("exit code %d, %s", o.code, o.stderr)
	}
	if o := bigfit(t, "cluster", "path.npz", "-c", "2", "--min-component", "2"); o.code != 0 || strings.Contains(o.stderr, "warning") {
		t.Errorf("without the isolated points: exit code %d, %s", o.code, o.stderr)
	}
}

// TestRowsOfClusters: rows of the eigenvectors are normalized for k-means unless the flag says no; other
// rules have no rows.
func TestRowsOfClusters(t *testing.T) {
	intoBlobs(t)
	// A graph of one component, on which the rows have different lengths.
	graph := "-k 40 --weights heat -c 3 -q -o"
	run := func(words ...string) string {
		t.Helper()
		succeed(t, append(append([]string{"cluster", "X.npy"}, strings.Fields(graph)...), words...)...)
		return string(readFile(t, words[0]))
	}
	if run("a.npy") != run("b.npy", "--row-normalize") {
		t.Error("the default does not normalize rows")
	}
	run("c.npy", "--row-normalize=false")
	succeed(t, strings.Fields("cluster X.npy -c 2 --rule sign -q -o d.npy")...)
	fail(t, 2, []string{"--row-normalize is for --rule k-means"}, strings.Fields("cluster X.npy -c 2 --rule sign --row-normalize -q -o d.npy")...)
}
