package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// auditFiles writes points of three groups and labels by id: rows 10 and 40 are one point, row 20 is far from all, and
// the labels of rows 30 to 34 are wrong.
func auditFiles(t *testing.T) {
	t.Helper()
	intoBlobs(t)
	x, _ := blobs(blobCount, 0)
	y := groups()
	text := func(i int) string {
		return fmt.Sprintf("%d,%d,%d,%d", x[4*i], x[4*i+1], x[4*i+2], x[4*i+3])
	}
	points := "id,x,y,z,u\n"
	labels := "id,label\n"
	names := []string{"ash", "birch", "cedar"}
	for i := range y {
		row := text(i)
		class := y[i]
		switch {
		case i == 40:
			row = text(10)
		case i == 20:
			row = "900,901,902,903"
		case 30 <= i && i < 35:
			class = (class + 1) % 3
		}
		points += fmt.Sprintf("p%d,%s\n", i, row)
		labels += fmt.Sprintf("p%d,%s\n", i, names[class])
	}
	must(t, os.WriteFile("points.csv", []byte(points), 0o666))
	must(t, os.WriteFile("labels.csv", []byte(labels), 0o666))
}

// TestAudit: what was planted is in the table, by id, in the JSON and on the page.
func TestAudit(t *testing.T) {
	auditFiles(t)
	out := succeed(t, "audit", "points.csv", "labels.csv", "--id", "id", "-o", "found.csv", "--json")
	var sum auditSummary
	must(t, json.Unmarshal([]byte(out), &sum))
	if sum.Points != blobCount || sum.Duplicates.Groups != 1 || sum.Duplicates.Points != 2 || sum.Outliers < 1 || sum.Labels == nil {
		t.Fatalf("%s", out)
	}
	if l := sum.Labels; l.Labeled != blobCount || l.Suspects < 5 || !(l.Low <= 5 && 5 <= l.High+1) {
		t.Errorf("labels: %+v", *l)
	}

	f, err := os.Open("found.csv")
	must(t, err)
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	must(t, err)
	if len(table) != blobCount+1 || table[0][0] != "id" || table[0][1] != "row" {
		t.Fatalf("%d rows, columns %v", len(table), table[0])
	}
	has := func(row int, issue string) {
		t.Helper()
		if r := table[row+1]; r[0] != fmt.Sprintf("p%d", row) || !slices.Contains(strings.Fields(r[2]), issue) {
			t.Errorf("row %d: %v; want %s", row, r, issue)
		}
	}
	has(10, "duplicate")
	has(40, "duplicate")
	has(20, "outlier")
	for row := 30; row < 35; row++ {
		has(row, "label")
	}

	page, err := os.ReadFile("found.html")
	must(t, err)
	if !strings.Contains(string(page), "p20") {
		t.Error("the page does not name the outlier by its id")
	}
}

func TestAuditBadUsage(t *testing.T) {
	auditFiles(t)
	fail(t, 2, []string{"audit needs the points"}, "audit")
	fail(t, 2, []string{"none.npy", "no such file"}, "audit", "none.npy")
	fail(t, 2, []string{"--votes is 0"}, "audit", "X.npy", "--votes", "0")
	fail(t, 2, []string{"--report", ".html"}, "audit", "X.npy", "--report", "page.txt")
	fail(t, 2, []string{"-o audit.html", "--report names the page"}, "audit", "X.npy", "-o", "audit.html")
	fail(t, 2, []string{"audit.txt"}, "audit", "X.npy", "-o", "audit.txt")
	must(t, os.WriteFile("words.csv", []byte(strings.Replace(string(readFile(t, "points.csv")), "id,", "word,", 1)), 0o666))
	fail(t, 2, []string{"words.csv", `"p0"`, "--id"}, "audit", "words.csv")
}
