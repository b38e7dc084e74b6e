package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	door "github.com/bigfit/bigfit"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
)

// growth is the part of the output of update that counts labels and points.
type growth struct {
	Points    int `json:"points"`
	New       int `json:"new_labels"`
	Changed   int `json:"changed_labels"`
	Equal     int `json:"equal_labels"`
	Removed   int `json:"removed_labels"`
	Forgotten int `json:"forgotten_points"`
}

// updated runs update and returns what it counts.
func updated(t *testing.T, args ...string) growth {
	t.Helper()
	var out growth
	text := succeed(t, append([]string{"update", "--json", "-q"}, args...)...)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// nameBlobs writes the ids of the 90 points of blobs, in an order that says nothing, and a table with
// the labels of every ninth one. It returns the ids.
func nameBlobs(t *testing.T, y []int64) []string {
	t.Helper()
	ids := make([]string, blobCount)
	for i, k := range rand.New(rand.NewPCG(3, 1)).Perm(blobCount) {
		ids[i] = fmt.Sprintf("item %d Größe", k)
	}
	must(t, os.WriteFile("ids.csv", []byte("id\n\""+strings.Join(ids, "\"\n\"")+"\"\n"), 0o666))
	table := "id,label\n"
	for i := 0; i < blobCount; i += 9 {
		table += fmt.Sprintf("%q,%q\n", ids[i], blobNames[y[i]/10])
	}
	must(t, os.WriteFile("labels.csv", []byte(table), 0o666))
	return ids
}

var blobNames = []string{"left", "right", "up, or so"}

// TestLoopByIDs goes once around with ids alone: fit, next, update by labels that join, change and
// leave, new points, points to forget, answers and suspects.
func TestLoopByIDs(t *testing.T) {
	intoBlobs(t)
	_, y := blobs(blobCount, 0)
	ids := nameBlobs(t, y)
	for _, model := range []string{"auto", "lgc", "eigenmap", "geodesic"} {
		t.Run(model, func(t *testing.T) {
			succeed(t, "fit", "X.npy", "labels.csv", "--ids", "ids.csv", "--model", model, "-o", "m.npz", "-q")
			succeed(t, "next", "m.npz", "-n", "6", "--rule", "random", "-o", "next.csv", "-q")
			rows := fields(t, "next.csv")
			table := "id,label\n"
			for _, r := range rows[1:] {
				at := slices.Index(ids, r[0])
				if at < 0 {
					t.Fatalf("next names %q, which is the id of no point", r)
				}
				table += fmt.Sprintf("%q,%q\n", ids[at], blobNames[y[at]/10])
			}

			// Six labels are new, one is the same, one another and one leaves.
			table += fmt.Sprintf("%q,%q\n%q,%q\n%q,\n", ids[0], blobNames[y[0]/10], ids[9], "fourth", ids[18])
			must(t, os.WriteFile("more.csv", []byte(table), 0o666))
			if got := updated(t, "m.npz", "-y", "more.csv", "-o", "m2.npz"); got != (growth{Points: 90, New: 6, Changed: 1, Equal: 1, Removed: 1}) {
				t.Errorf("labels: %+v", got)
			}
			m, _, err := all.Load("m2.npz", 0)
			must(t, err)
			if names := m.Output().Names; !slices.Contains(names, "fourth") || models.IDsOf(m).Values[5] != ids[5] {
				t.Errorf("the model has the classes %v and the id %q", names, models.IDsOf(m).Values[5])
			}

			must(t, os.WriteFile("gone.csv", []byte("id\n\""+ids[3]+"\"\n\""+ids[9]+"\"\n"), 0o666))
			if got := updated(t, "m2.npz", "--forget", "gone.csv", "-o", "m3.npz"); got != (growth{Points: 88, Forgotten: 2}) {
				t.Errorf("forgotten: %+v", got)
			}
			if model == "geodesic" {
				return // it keeps no answers for its points
			}
			succeed(t, "predict", "m3.npz", "-o", "all.csv", "-q")
			if text := string(readFile(t, "all.csv")); strings.Contains(text, ids[3]) || !strings.HasPrefix(text, "id,label") || strings.Contains(text, "fourth") {
				t.Errorf("answers after points were forgotten: %.300s", text)
			}
			succeed(t, "suspects", "m3.npz", "-o", "s.csv", "-q")
			text := string(readFile(t, "s.csv"))
			if !strings.HasPrefix(text, "id,row,label,suggested,score") {
				t.Errorf("suspects: %.80s", text)
			}
			// The terminal names points as the file does.
			if rows := fields(t, "s.csv"); len(rows) > 1 {
				said := succeed(t, "suspects", "m3.npz", "-o", "s.csv", "-q")
				if !strings.Contains(said, onTerminal(rows[1][0])) || strings.Contains(said, " row ") {
					t.Errorf("suspects says %q of %q", said, rows[1])
				}
			}
		})
	}

	// New points need ids that are not taken.
	fail(t, 2, []string{"the new points have none", "--ids"}, "update", "m.npz", "new.npy", "-o", "no.npz")
	fail(t, 2, []string{"row 0 has the id", "which row 0 of m.npz has already"}, "update", "m.npz", "new.npy", "--ids", "ids.csv", "-o", "no.npz")
	fail(t, 2, []string{"nobody.csv", "which is the id of no point"}, "update", "m.npz", "-o", "no.npz", "--forget", file(t, "nobody.csv", "id\nnobody\n"))
}

// file writes text to a file and returns its name.
func file(t *testing.T, path, text string) string {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// TestRowsAreNoIDs checks that the column row joins by number, whether the points have ids or not,
// and that answers without ids say row.
func TestRowsAreNoIDs(t *testing.T) {
	intoBlobs(t)
	_, y := blobs(blobCount, 0)
	nameBlobs(t, y)
	must(t, os.WriteFile("rows.csv", []byte("row,label\n1,left\n4,\n40,right\n"), 0o666))
	for _, ids := range [][]string{nil, {"--ids", "ids.csv"}} {
		labels := "labels.csv"
		if ids == nil {
			labels = "by_row.csv"
			table := "row,label\n"
			for i := 0; i < blobCount; i += 9 {
				table += fmt.Sprintf("%d,%q\n", i, blobNames[y[i]/10])
			}
			must(t, os.WriteFile(labels, []byte(table), 0o666))
		}
		succeed(t, append([]string{"fit", "X.npy", labels, "--model", "lgc", "-o", "m.npz", "-q"}, ids...)...)
		if got := updated(t, "m.npz", "-y", "rows.csv", "-o", "m2.npz"); got.New != 2 || got.Removed != 0 {
			t.Errorf("ids %v: %+v", ids, got)
		}
		succeed(t, "predict", "m.npz", "-o", "all.csv", "-q")
		head, _, _ := strings.Cut(string(readFile(t, "all.csv")), ",")
		if want := map[bool]string{true: "row", false: "id"}[ids == nil]; head != want {
			t.Errorf("ids %v: the answers begin with %q", ids, head)
		}
	}
	fail(t, 2, []string{"which is no number of a point, 0 to 89"}, "update", "m.npz", "-y", file(t, "far.csv", "row,label\n90,left\n"), "-o", "no.npz")
}

// TestNeighborsByIDs writes neighbours as a table: by ids where the points have them, else by rows.
func TestNeighborsByIDs(t *testing.T) {
	y := intoLabeled(t)
	ids := nameBlobs(t, y)
	succeed(t, "neighbors", "X.npy", "-k", "2", "-o", "k.npz", "-q")
	want := neighborsIn(t, "k.npz")
	for _, c := range []struct {
		flags []string
		head  string
	}{
		{nil, "row,rank,neighbor,distance"},
		{[]string{"--ids", "ids.csv"}, "id,row,rank,neighbor,distance"},
	} {
		succeed(t, append([]string{"neighbors", "X.npy", "-k", "2", "-o", "k.csv", "-q"}, c.flags...)...)
		rows := fields(t, "k.csv")
		if strings.Join(rows[0], ",") != c.head || len(rows) != 1+2*len(y) {
			t.Fatalf("%v: %d rows, %v", c.flags, len(rows), rows[0])
		}
		for q, r := range rows[1:] {
			neighbor := fmt.Sprint(want[q])
			if c.flags != nil {
				neighbor = ids[want[q]]
				if r[0] != ids[q/2] {
					t.Fatalf("row %d has the id %s, want %s", q, r[0], ids[q/2])
				}
				r = r[1:]
			}
			if r[0] != fmt.Sprint(q/2) || r[1] != fmt.Sprint(1+q%2) || r[2] != neighbor {
				t.Fatalf("%v: row %d is %v, want the neighbour %s", c.flags, q, r, neighbor)
			}
		}
	}
}

// neighborsIn returns the indices of neighbours in a file.
func neighborsIn(t *testing.T, path string) []int32 {
	t.Helper()
	a, err := npy.OpenArchive(path, 0)
	must(t, err)
	defer a.Close()
	x, err := a.Read("indices")
	must(t, err)
	return x.Data.([]int32)
}

// TestIDsOfGo: ids of a model that the command fitted are there in Go, and the command takes labels by the
// ids of a model that a Go program updated.
func TestIDsOfGo(t *testing.T) {
	intoBlobs(t)
	_, y := blobs(blobCount, 0)
	ids := nameBlobs(t, y)
	succeed(t, "fit", "X.npy", "labels.csv", "--ids", "ids.csv", "--model", "lgc", "-o", "m.npz", "-q")

	m, err := door.Load("m.npz")
	must(t, err)
	if !slices.Equal(m.IDs(), ids) {
		t.Fatalf("the ids are %q", m.IDs())
	}
	m, err = m.Update(t.Context(), door.Points{}, door.NamesByID(map[string]string{ids[1]: "fourth"}))
	must(t, err)
	m, err = m.Forget(t.Context(), ids[2])
	must(t, err)
	must(t, m.Save("go.npz"))

	must(t, os.WriteFile("more.csv", fmt.Appendf(nil, "id,label\n%q,fourth\n%q,fourth\n", ids[1], ids[3]), 0o666))
	if got := updated(t, "go.npz", "-y", "more.csv", "-o", "m2.npz"); got != (growth{Points: 89, New: 1, Equal: 1}) {
		t.Errorf("the command counts %+v", got)
	}
	must(t, os.WriteFile("gone.csv", fmt.Appendf(nil, "id,label\n%q,fourth\n", ids[2]), 0o666))
	fail(t, 2, []string{ids[2]}, "update", "go.npz", "-y", "gone.csv", "-o", "m3.npz")
}

// A table of points with a column of ids needs no flag: labels are joined by it, with whatever numbers it counts, and
// the ids come back in every answer. A column that repeats names no points and is no coordinate either; one that is
// read as a coordinate is not passed over by labels that have it.
func TestIDsInTables(t *testing.T) {
	t.Chdir(t.TempDir())
	x, y := blobs(blobCount, 0)
	write := func(path, id string, of func(i int) int) {
		table := id + ",a,b\n"
		for i := range blobCount {
			table += fmt.Sprintf("%d,%v,%v\n", of(i), x[i*blobColumns], x[i*blobColumns+1])
		}
		must(t, os.WriteFile(path, []byte(table), 0o666))
	}
	from := func(first int) func(int) int { return func(i int) int { return first + i } }
	write("points.csv", "id", from(1))
	write("likely.csv", "probe_id", from(1))
	write("few.csv", "id", func(i int) int { return i / 2 })

	labels := "id,label\n"
	for i := 0; i < blobCount; i += 9 {
		labels += fmt.Sprintf("%d,c%d\n", i+1, y[i])
	}
	must(t, os.WriteFile("labels.csv", []byte(labels), 0o666))
	must(t, os.WriteFile("probes.csv", []byte(strings.Replace(labels, "id", "probe_id", 1)), 0o666))

	o := bigfit(t, "fit", "points.csv", "labels.csv", "--model", "knn", "-o", "m.npz", "--predictions", "p.csv")
	if o.code != 0 || !strings.Contains(o.stderr, `points.csv: column "id" holds the ids`) || !strings.Contains(o.stderr, "90 points × 2") {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	rows := fields(t, "p.csv")
	wrong := 0
	for i, row := range rows[1:] {
		if row[0] != fmt.Sprint(i+1) {
			t.Fatalf("row %d is of %q", i, row[0])
		}
		if row[1] != fmt.Sprintf("c%d", y[i]) {
			wrong++
		}
	}
	if wrong > 5 {
		t.Errorf("%d of %d answers are wrong", wrong, blobCount)
	}

	if o := bigfit(t, "next", "few.csv", "-n", "3", "-o", "next.csv"); o.code != 0 || !strings.Contains(o.stderr, "ids: none taken: few.csv: column id: rows 0 and 1") {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	fail(t, 2, []string{`probes.csv: column "probe_id" has ids`, "--id probe_id"}, "fit", "likely.csv", "probes.csv", "--model", "knn", "-o", "no.npz")
	succeed(t, "fit", "likely.csv", "--id", "probe_id", "probes.csv", "--model", "knn", "-o", "m.npz", "-q")
}
