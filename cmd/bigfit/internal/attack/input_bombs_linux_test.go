package attack

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
)

// The number of columns of the points in TestInputBombs, and the bytes of zeros in its arrays.
const (
	bombDims  = 4
	bombBytes = 512 << 20
)

// packedPoints are points; all but the first have the columns of the models.
func packedPoints() []packedInput {
	zero := strings.Repeat("\x00", 1<<20)
	head := string(header("|u1", fmt.Sprintf("(%d, %d)", bombBytes/bombDims, bombDims)))
	rows := bombBytes / bombDims
	idx := string([]byte{0, 0, 8, 2, byte(rows >> 24), byte(rows >> 16), byte(rows >> 8), byte(rows), 0, 0, 0, bombDims})
	return []packedInput{
		{name: "one.npy.gz", head: string(header("|u1", fmt.Sprintf("(%d, 1)", bombBytes))), block: zero, times: bombBytes >> 20},
		{name: "X.npy.gz", head: head, block: zero, times: bombBytes >> 20},
		{name: "X.npy.zst", head: head, block: zero, times: bombBytes >> 20},
		{name: "X.idx.gz", head: idx, block: zero, times: bombBytes >> 20},
		{name: "rows.csv.gz", block: "0,0,0,0\n", times: 40_000_000},
		{name: "columns.csv.gz", block: "0,", times: 20_000_000},
		{name: "rows.svm.gz", block: "0 1:1 2:1 3:1 4:1\n", times: 20_000_000},
		{name: "rows.jsonl.gz", block: "{\"x\": [0, 0, 0, 0]}\n", times: 20_000_000},
	}
}

// packedAnswers are labels, values or scores.
func packedAnswers() []packedInput {
	zero := strings.Repeat("\x00", 1<<20)
	return []packedInput{
		{name: "y.npy.gz", head: string(header("<i8", fmt.Sprintf("(%d,)", bombBytes/8))), block: zero, times: bombBytes >> 20},
		{name: "y.txt.gz", block: "0\n", times: 100_000_000},
		{name: "y.csv.gz", head: "id,label\n", block: "0,1\n", times: 50_000_000},
		{name: "line.txt.gz", block: "0", times: 60_000_000},
	}
}

// Compressed input of every command is compared with what is known, announced and bounded before
// it takes memory: half a gigabyte in a small file is refused within the limit.
func TestInputBombs(t *testing.T) {
	testmode.Campaign(t)
	const n, limit = 120, 150 << 20
	dir := t.TempDir()
	x := make([]float64, n*bombDims)
	y := make([]int64, n)
	for i := range n {
		y[i] = int64(i % 2)
		for j := range bombDims {
			x[i*bombDims+j] = float64(y[i]*3) + float64((i*7+j*13)%11)/10
		}
	}
	must(t, npy.WriteFile(filepath.Join(dir, "X.npy"), []int{n, bombDims}, x))
	must(t, npy.WriteFile(filepath.Join(dir, "y.npy"), nil, y))
	for _, line := range []string{"graph X.npy -k 6 -o graph.npz", "fit X.npy y.npy --model harmonic -o m.npz",
		"fit X.npy y.npy --model rls-linear --gamma-a 0.1 -o linear.npz", "predict m.npz X.npy -o p.npz", "predict m.npz X.npy -o p.npy",
		"embed -X X.npy --gamma 1 --dimensions 2 --model e.npz -o e.npy"} {
		succeedIn(t, dir, line)
	}

	// Archives of one array: wrong columns, the right ones, labels.
	small := filepath.Join(dir, "small.npz")
	must(t, npy.WriteArchive(small, []archive.Array{{Name: "X", Shape: []int{2, 1}, Data: []uint8{0, 1}}}))
	bomb(t, small, filepath.Join(dir, "X.npz"), "X") // with four columns
	must(t, npy.WriteArchive(small, []archive.Array{{Name: "y", Data: []int64{0, 1}}}))
	bomb(t, small, filepath.Join(dir, "y.npz"), "y")
	points := []string{"X.npz"}
	answers := []string{"y.npz", "X.npz:X"}
	for _, p := range packedPoints() {
		p.write(t, dir)
		points = append(points, p.name)
	}
	for _, p := range packedAnswers() {
		p.write(t, dir)
		answers = append(answers, p.name)
	}
	names := []string{"ids.csv.gz:id", "y.npz:y", "y.txt.gz"}
	packedInput{name: "ids.csv.gz", head: "id\n", block: strings.Repeat("0123456789abcdef", 1<<16) + "\n", times: 400}.write(t, dir)

	lines := []string{}
	for _, l := range []struct {
		files []string
		lines []string
	}{
		{points, []string{"fit POINTS y.npy --model knn -o out.npz", "predict m.npz POINTS -o out.npy", "predict linear.npz POINTS -o out.npy", "update m.npz -X POINTS -o out.npz",
			"graph POINTS -o out.npz", "graph POINTS --append graph.npz -X X.npy -o out.npz", "embed POINTS -o out.npy", "embed -X POINTS --transform e.npz -o out.npy",
			"suspects -X POINTS -y y.npy --model knn", "plot POINTS -o out.svg", "neighbors POINTS -o out.npz", "neighbors X.npy --query POINTS -o out.npz", "cluster -X POINTS -c 2 -o out.npy",
			"tune -X POINTS -y y.npy --model knn -o out.json", "next POINTS -o out.csv", "diff POINTS p.npz", "compare POINTS y.npy --models knn --labels-per-class 3 --splits 2"}},
		{answers, []string{"fit X.npy POINTS --model knn -o out.npz", "update m.npz -y POINTS -o out.npz", "eval POINTS p.npy", "eval y.npy POINTS", "eval y.npy p.npy --scores POINTS",
			"eval y.npy p.npy --proba POINTS", "solve graph.npz POINTS -o out.npy", "suspects -X X.npy -y POINTS --model knn", "tune -X X.npy -y POINTS --model knn -o out.json",
			"compare X.npy POINTS --models knn --labels-per-class 3 --splits 2", "plot X.npy -y POINTS -o out.svg", "predict linear.npz X.npy -o out.csv --ids POINTS"}},
		{names, []string{"fit X.npy y.npy --ids POINTS --model knn -o out.npz", "predict linear.npz X.npy --ids POINTS -o out.csv"}},
	} {
		for _, file := range l.files {
			for _, line := range l.lines {
				lines = append(lines, strings.ReplaceAll(line, "POINTS", file))
			}
		}
	}

	var worst outcome
	for i, line := range lines {
		if !testmode.Soak() && i%13 != 0 {
			continue
		}
		before := listing(t, dir)
		o := runIn(t, dir, line+fmt.Sprintf(" --memory-limit %d", limit))
		if strings.Contains(o.stderr, "--help") {
			t.Errorf("bigfit %s says how it is used, and reads nothing:\n%s", line, o.stderr)
		}
		differs := strings.HasPrefix(line, "diff ") && o.code == 1 // as the headers say
		if fault := o.fault(); !differs && (fault != "" || o.code != 2) {
			t.Errorf("bigfit %s: exit code %d, %s\n%s", line, o.code, fault, o.stderr)
		}
		if o.peak > limit+limit/10+memorySlack || o.seconds > 60 {
			t.Errorf("bigfit %s takes %d MiB and %.1f s\n%s", line, o.peak>>20, o.seconds, o.stderr)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("bigfit %s left files:\n%s", line, after)
		}
		worst.peak, worst.seconds = max(worst.peak, o.peak), max(worst.seconds, o.seconds)
		t.Logf("%4d MiB %5.2f s bigfit %s: %s", o.peak>>20, o.seconds, line, o.stderr[strings.LastIndex(strings.TrimSpace(o.stderr), "\n")+1:])
	}
	t.Logf("%d lines, at most %d MiB and %.2f s", len(lines), worst.peak>>20, worst.seconds)
}
