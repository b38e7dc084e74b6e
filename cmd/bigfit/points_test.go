package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// intoShards goes to a new folder with points of two classes in four files of float16, the
// same in one file of float32, and labels of some.
func intoShards(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("emb", 0o777))
	const rows, d = 40, 5
	var all []float32
	for s, number := range []int{0, 1, 2, 10} {
		bits := make([]npy.Half, rows*d)
		for i := range bits {
			v := float32((i*7+s*13)%17)/8 + float32(i/d%2*9)
			bits[i] = npy.Half(simd.ToHalf(v))
			all = append(all, simd.FromHalf(uint16(bits[i])))
		}
		must(t, npy.WriteFile(fmt.Sprintf("emb/img_emb_%d.npy", number), []int{rows, d}, bits))
	}
	must(t, npy.WriteFile("X.npy", []int{4 * rows, d}, all))
	labels := make([]int64, 4*rows)
	for i := range labels {
		if labels[i] = -1; i%9 < 3 {
			labels[i] = int64(i % 2)
		}
	}
	must(t, npy.WriteFile("y.npy", nil, labels))
	must(t, os.WriteFile("files.txt", []byte("emb/img_emb_0.npy\nemb/img_emb_1.npy\nemb/img_emb_2.npy\nemb/img_emb_10.npy\n"), 0o666))
}

// However the points are given, they are the same.
func TestPointsAsShards(t *testing.T) {
	intoShards(t)
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "-p", "4", "-o", "one.npz")
	succeed(t, "predict", "one.npz", "X.npy", "-o", "one.npy")
	want := readFile(t, "one.npy")
	byLetters := []string{"emb/img_emb_0.npy", "emb/img_emb_1.npy", "emb/img_emb_10.npy", "emb/img_emb_2.npy"}
	for _, args := range [][]string{
		{"emb/*.npy", "y.npy"},
		{"emb", "y.npy"},
		{"files.txt", "y.npy"},
		append(byLetters[:4:4], "y.npy"),
		append([]string{"-y", "y.npy"}, byLetters...),
		{"-X", "emb", "y.npy"},
		{"-X", "emb/img_emb_0.npy", "-X", "emb/img_emb_1.npy", "-X", "emb/img_emb_2.npy", "-X", "emb/img_emb_10.npy", "-y", "y.npy"},
	} {
		succeed(t, append([]string{"fit", "--model", "eigenmap", "-p", "4", "-o", "m.npz"}, args...)...)
		succeed(t, "predict", "m.npz", "emb", "-o", "p.npy")
		if !bytes.Equal(readFile(t, "p.npy"), want) {
			t.Errorf("fit %v: other answers than of one file", args)
		}
	}
	o := bigfit(t, append([]string{"predict", "m.npz", "-o", "p.npy"}, byLetters...)...)
	if o.code != 0 || !bytes.Equal(readFile(t, "p.npy"), want) {
		t.Errorf("exit code %d, or other answers:\n%s", o.code, o.stderr)
	}
	for _, part := range []string{"in the order of their numbers", "emb/img_emb_10.npy last", "160 points × 5, float16"} {
		if !strings.Contains(o.stderr, part) {
			t.Errorf("no word of %q:\n%s", part, o.stderr)
		}
	}
}

func TestBadShards(t *testing.T) {
	intoShards(t)
	fail(t, shell.ExitInput, []string{"emb/none*.npy: no file matches"}, "fit", "--model", "eigenmap", "emb/none*.npy", "y.npy")
	fail(t, shell.ExitInput, []string{"given twice"}, "fit", "--model", "eigenmap", "emb", "emb/img_emb_1.npy", "y.npy")
	fail(t, shell.ExitInput, []string{"needs labels (-y)"}, "fit", "--model", "eigenmap", "emb")
	fail(t, shell.ExitInput, []string{"both read and written"}, "fit", "--model", "eigenmap", "emb", "y.npy", "-o", "emb/img_emb_2.npy")
	fail(t, shell.ExitInput, []string{"X.npy: it holds 5 columns of float32", "img_emb_0.npy holds 5 of float16"}, "graph", "emb/img_emb_0.npy", "X.npy")
	must(t, npy.WriteFile("emb/text_emb_0.npy", []int{1, 5}, make([]npy.Half, 5)))
	fail(t, shell.ExitInput, []string{"emb/*.npy: 2 kinds of files", "img_emb_*.npy (4 files)", "text_emb_*.npy (1 file)"}, "fit", "--model", "eigenmap", "emb/*.npy", "y.npy")
	must(t, os.WriteFile("emb/README.md", nil, 0o666))
	fail(t, shell.ExitInput, []string{"emb: the folder holds what is not points: README.md"}, "fit", "--model", "eigenmap", "emb", "y.npy")
}

// intoTables goes to a new folder with emb, which has twelve files of points in float16 and a table of
// ids in csv beside each, and with the labels of some by id.
func intoTables(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("emb", 0o777))
	labels := "id,label\n"
	for s := range 12 {
		const rows, d = 20, 4
		bits := make([]npy.Half, rows*d)
		ids := "lang,id\n"
		for i := range rows {
			// Each file has a place of its own, so that a wrong order gives wrong answers.
			for j := range d {
				v := float32(s*8) + float32((i*7+j*5)%11)/16
				bits[i*d+j] = npy.Half(simd.ToHalf(v))
			}
			id := fmt.Sprintf("\"T-%d,\"\"%d\"\"\"", s, i)
			ids += "en," + id + "\n"
			if i%5 == 0 {
				labels += fmt.Sprintf("%s,c%02d\n", id, s)
			}
		}
		must(t, npy.WriteFile(fmt.Sprintf("emb/emb_%d.npy", s), []int{rows, d}, bits))
		writeFile(t, fmt.Sprintf("emb/meta_%d.csv", s), []byte(ids))
	}
	writeFile(t, "labels.csv", []byte(labels))
}

// Files whose names differ in words are one set of points if each has a table of its name; the only column
// that ends as one of ids does is taken, or the one that --id names.
func TestIDsOfNamesakes(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("emb", 0o777))
	x, y := blobs(blobCount, 0)
	half := blobCount / 2
	labels := "utt_id,letter\n"
	for k, name := range []string{"train", "test"} {
		part := floats(x)[k*half*blobColumns : (k+1)*half*blobColumns]
		must(t, npy.WriteFile("emb/"+name+".npy", []int{half, blobColumns}, part))
		table := "utt_id,speaker\n"
		for i := k * half; i < (k+1)*half; i++ {
			table += fmt.Sprintf("u%d,s%d\n", i, i%3)
			if i%10 < 3 {
				labels += fmt.Sprintf("u%d,c%d\n", i, y[i])
			}
		}
		writeFile(t, "emb/"+name+".csv", []byte(table))
	}
	writeFile(t, "labels.csv", []byte(labels))

	fail(t, 2, []string{"rows 0 and 3 have the same id"}, "fit", "emb", "labels.csv", "--id", "speaker", "--model", "knn")
	fail(t, shell.ExitInput, []string{"--id none", "--ids FILE:COLUMN"}, "fit", "emb", "labels.csv", "--id", "none", "--model", "knn")
	for _, more := range [][]string{nil, {"--id", "utt_id"}} {
		succeed(t, append([]string{"fit", "emb", "labels.csv", "--model", "knn", "-o", "m.npz", "--predictions", "p.csv", "-q"}, more...)...)
		rows := fields(t, "p.csv")
		// Files are taken in the order of their names: test before train.
		if len(rows) != blobCount+1 || rows[1][0] != fmt.Sprintf("u%d", half) || rows[1][1][0] != 'c' {
			t.Errorf("%d rows, the first %q", len(rows), rows[1])
		}
	}

	// A column of that name whose values repeat does not name the points, which is said.
	for _, name := range []string{"train", "test"} {
		writeFile(t, "emb/"+name+".csv", bytes.ReplaceAll(readFile(t, "emb/"+name+".csv"), []byte("utt_id,speaker"), []byte("utt,speaker_id")))
	}
	if o := bigfit(t, "graph", "emb", "-o", "g.npz"); o.code != 0 || strings.Contains(o.stderr, "same id") {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	if o := bigfit(t, "next", "emb", "-n", "3", "-o", "next.csv"); o.code != 0 || !strings.Contains(o.stderr, "rows 0 and 3 have the same id") {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	must(t, os.Remove("emb/train.csv"))
	fail(t, shell.ExitInput, []string{"2 kinds of files", `or all by "emb/*.npy"`}, "fit", "emb", "labels.csv", "--model", "knn")
}

// A folder of shards with tables beside them needs no flags: the ids come from the tables.
func TestIDsBesideShards(t *testing.T) {
	intoTables(t)
	command := []string{"fit", "emb", "labels.csv", "--model", "knn", "-o", "m.npz", "--predictions", "p.csv"}
	has := func(expect ...string) {
		t.Helper()
		o := bigfit(t, command...)
		for _, text := range expect {
			if o.code != 0 || !strings.Contains(o.stderr, text) {
				t.Errorf("exit code %d, or no word of %q:\n%s", o.code, text, o.stderr)
			}
		}
	}
	has("emb: 12 tables beside the points left out",
		`ids: column "id" of emb/meta_0.csv to emb/meta_11.csv beside the points`, "240 points × 4, float16",
		"labels: 48 of 240 points, 12 classes")
	lines := strings.Split(strings.TrimSpace(string(readFile(t, "p.csv"))), "\n")
	if len(lines) != 241 {
		t.Fatalf("%d lines of answers", len(lines))
	}
	for row, line := range lines[1:] {
		s, i := row/20, row%20
		if want := fmt.Sprintf("\"T-%d,\"\"%d\"\"\",c%02d", s, i, s); !strings.HasPrefix(line, want) {
			t.Errorf("row %d is %s, not %s", row, line, want)
		}
	}

	// One table for all points has the same ids in the same order; labels in the folder are no table of ids.
	all := "id\n"
	for s := range 12 {
		for i := range 20 {
			all += fmt.Sprintf("\"T-%d,\"\"%d\"\"\"\n", s, i)
		}
		must(t, os.Remove(fmt.Sprintf("emb/meta_%d.csv", s)))
	}
	writeFile(t, "emb/ids.csv", []byte(all))
	must(t, os.Rename("labels.csv", "emb/labels.csv"))
	command = []string{"fit", "emb", "emb/labels.csv", "--model", "knn", "-o", "m.npz", "--predictions", "emb/q.csv"}
	for range 2 { // the answers of the first run are no table of ids for the second
		has(`ids: column "id" of emb/ids.csv beside the points`)
		if !bytes.Equal(readFile(t, "p.csv"), readFile(t, "emb/q.csv")) {
			t.Error("other answers with one table for all points")
		}
	}
}

func TestBadTablesBesideShards(t *testing.T) {
	fit := []string{"fit", "emb", "labels.csv", "--model", "knn", "-o", "m.npz"}
	for _, c := range []struct {
		name   string
		spoil  func(t *testing.T)
		expect []string
	}{
		{"rows of one table", func(t *testing.T) { writeFile(t, "emb/meta_10.csv", []byte("id\na\nb\n")) },
			[]string{"emb/meta_10.csv has 2 rows, but emb/emb_10.npy has 20 points", "--ids"}},
		{"rows of one for all", func(t *testing.T) {
			for s := range 12 {
				must(t, os.Remove(fmt.Sprintf("emb/meta_%d.csv", s)))
			}
			writeFile(t, "emb/ids.csv", []byte("id\na\nb\n"))
		}, []string{"emb/ids.csv has 2 rows, but emb/emb_0.npy to emb/emb_11.npy has 240 points"}},
		{"no column of ids", func(t *testing.T) {
			for s := range 12 {
				writeFile(t, fmt.Sprintf("emb/meta_%d.csv", s), []byte("lang,year\n"+strings.Repeat("en,7\n", 20)))
			}
		}, []string{"ids: none in emb/meta_0.csv to emb/meta_11.csv beside the points, as no column of lang, year",
			"the points have no ids"}},
		{"no column of ids in one", func(t *testing.T) {
			writeFile(t, "emb/meta_10.csv", []byte("lang,year\n"+strings.Repeat("en,7\n", 20)))
		}, []string{"emb/meta_10.csv", `no column "id"`}},
		{"an id twice", func(t *testing.T) {
			writeFile(t, "emb/meta_10.csv", readFile(t, "emb/meta_2.csv"))
		}, []string{"T-2"}},
		{"two kinds of tables", func(t *testing.T) {
			for s := range 12 {
				writeFile(t, fmt.Sprintf("emb/caption_%d.csv", s), readFile(t, fmt.Sprintf("emb/meta_%d.csv", s)))
			}
		}, []string{"they may be in emb/caption_0.csv to emb/caption_11.csv or in emb/meta_0.csv to emb/meta_11.csv",
			"the points have no ids"}},
		{"two kinds of points", func(t *testing.T) {
			must(t, npy.WriteFile("emb/text_0.npy", []int{20, 4}, make([]npy.Half, 80)))
		}, []string{"emb: the folder holds 2 kinds of files, emb_*.npy (12 files), text_*.npy (1 file)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			intoTables(t)
			c.spoil(t)
			bigfit(t, fit...).check(t, shell.ExitInput, c.expect, fit)
		})
	}
}
