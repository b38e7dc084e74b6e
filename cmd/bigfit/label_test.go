package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// intoDigits goes to a new directory with 400 drawn digits, their ids and a table of names.
func intoDigits(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	x, y := synthetic.Digits(400, 0)
	must(t, npy.WriteFile("X.npy", []int{400, 784}, x.Data))
	must(t, npy.WriteFile("y.npy", nil, y.Classes[:0:0]))
	var ids, oracle, meta strings.Builder
	oracle.WriteString("id,label\n")
	meta.WriteString("id,text\n")
	for i, c := range y.Index {
		id := "d" + strconv.Itoa(i)
		ids.WriteString(id + "\n")
		oracle.WriteString(id + ",digit " + y.Name(c) + "\n")
		meta.WriteString(id + ",\"text, <b>" + strconv.Itoa(i) + "</b>\"\n")
	}
	writeFile(t, "ids.txt", []byte(ids.String()))
	writeFile(t, "oracle.csv", []byte(oracle.String()))
	writeFile(t, "meta.csv", []byte(meta.String()))
	must(t, os.Remove("y.npy"))
}

// A column of the points that is shown is no coordinate, unless it is named as one, with label and with the report of fit.
func TestShownColumnOfPoints(t *testing.T) {
	t.Chdir(t.TempDir())
	var table, oracle strings.Builder
	table.WriteString("name,a,b,note,size\n")
	oracle.WriteString("name,label\n")
	for i := range 60 {
		fmt.Fprintf(&table, "n%d,%d,%d,\"note %d, of a table\",%d\n", i, i%3*100+i%7, i%5, i, i*i%17)
		fmt.Fprintf(&oracle, "n%d,c%d\n", i, i%3)
	}
	writeFile(t, "points.csv", []byte(table.String()))
	writeFile(t, "oracle.csv", []byte(oracle.String()))
	for show, columns := range map[string]string{"note": "60 points × 3", "note,size": "60 points × 2"} {
		line := []string{"label", "points.csv", "--id", "name", "--headless", "oracle.csv", "-n", "9", "--no-model"}
		for _, name := range strings.Split(show, ",") {
			line = append(line, "--show", name)
		}
		must(t, os.RemoveAll("labels.csv"))
		o := bigfit(t, line...)
		if o.code != 0 || !strings.Contains(o.stderr, columns) || !strings.Contains(o.stderr, `column "note" is shown and no coordinate`) {
			t.Fatalf("%s: %d %s", show, o.code, o.stderr)
		}
	}
	must(t, os.RemoveAll("labels.csv"))
	o := bigfit(t, "label", "points.csv", "--id", "name", "--show", "size", "--columns", "a,b,size", "--headless", "oracle.csv", "-n", "9", "--no-model")
	if o.code != 0 || !strings.Contains(o.stderr, "60 points × 3") || strings.Contains(o.stderr, "no coordinate") {
		t.Errorf("%d %s", o.code, o.stderr)
	}
	o = bigfit(t, "fit", "points.csv", "labels.csv", "--id", "name", "--show", "note", "--report", "r.html", "-o", "m.npz")
	if o.code != 0 || !strings.Contains(o.stderr, "60 points × 3") {
		t.Errorf("%d %s", o.code, o.stderr)
	}
}

// The road from nothing: labels, a model, answers and a report; the file is what fit and update read; the same
// command goes on; a model file is labeled on.
func TestLabelHeadless(t *testing.T) {
	intoDigits(t)
	line := []string{"label", "X.npy", "labels.csv", "--ids", "ids.txt", "--headless", "oracle.csv", "-n", "40", "--model", "lgc",
		"--predictions", "answers.csv", "--report", "report.html", "--show", "meta.csv:text"}
	o := bigfit(t, line...)
	if o.code != 0 || !strings.Contains(o.out, "model.npz: lgc, 40 of 400 points labeled, 10 classes") ||
		!strings.Contains(o.stderr, "labels.csv: 40 points labeled, 40 new; ") {
		t.Fatalf("%d\n%s\n%s", o.code, o.out, o.stderr)
	}
	rows := strings.Split(strings.TrimSpace(string(readFile(t, "labels.csv"))), "\n")
	if len(rows) != 41 || rows[0] != "id,label,annotator,time,seconds,shown" ||
		!regexp.MustCompile(`^d\d+,digit \d,,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,0\.0,(one|check):text$`).MatchString(rows[1]) {
		t.Errorf("%d rows, the first %q", len(rows), rows[:2])
	}
	if n := strings.Count(string(readFile(t, "answers.csv")), "\n"); n != 401 {
		t.Errorf("%d lines of answers", n)
	}
	if page := string(readFile(t, "report.html")); !strings.Contains(page, "How it was labeled") {
		t.Error("the report does not tell of the labeling")
	}

	// The labels of the file give the same model.
	succeed(t, "fit", "X.npy", "labels.csv", "--ids", "ids.txt", "--model", "lgc", "-k", "10", "--weights", "self-tuning",
		"--pca", "50", "-o", "fit.npz", "--predictions", "fit.csv", "-q")
	if a, b := answersOf(t, "answers.csv"), answersOf(t, "fit.csv"); a != b {
		t.Error("fit of the file has other answers")
	}

	// On from where it ended, and from the model with further labels.
	o = bigfit(t, "label", "X.npy", "--ids", "ids.txt", "--headless", "oracle.csv", "-n", "10", "--model", "lgc", "-o", "more.npz")
	if o.code != 0 || !strings.Contains(o.stderr, "of labels.csv") ||
		!regexp.MustCompile(`labels\.csv: (49|50) points labeled, (9|10) new`).MatchString(o.stderr) {
		t.Errorf("%d\n%s", o.code, o.stderr)
	}
	if text := succeed(t, "update", "model.npz", "-y", "labels.csv", "-o", "updated.npz", "-q"); !strings.Contains(text, "10 labels joined 40, 40 equal") {
		t.Errorf("update: %s", text)
	}
	o = bigfit(t, "label", "model.npz", "other.csv", "--headless", "oracle.csv", "-n", "5", "-o", "on.npz",
		"--show", "meta.csv:text")
	if o.code != 0 || !strings.Contains(o.out, "45 of 400 points labeled") {
		t.Errorf("on from a model: %d\n%s\n%s", o.code, o.out, o.stderr)
	}

	// Without a model the labels are printed as they count.
	o = bigfit(t, "label", "X.npy", "other.csv", "--ids", "ids.txt", "--headless", "oracle.csv", "-n", "1", "--no-model", "--json", "-q")
	var printed struct {
		Labeled     int
		Classes     []string
		Rows, Codes []int
	}
	must(t, json.Unmarshal([]byte(o.out), &printed))
	counted := map[string]string{}
	for _, row := range fields(t, "other.csv")[1:] {
		counted[row[0]] = row[1]
	}
	if o.code != 0 || printed.Labeled != len(counted) || len(printed.Rows) != len(counted) || len(printed.Codes) != len(counted) {
		t.Fatalf("%d: %s\n%s", o.code, o.out, o.stderr)
	}
	for k, i := range printed.Rows {
		if got := printed.Classes[printed.Codes[k]]; got != counted["d"+strconv.Itoa(i)] {
			t.Errorf("row %d is %q", i, got)
		}
	}

	// Two annotators, and a report that compares them.
	for _, name := range []string{"ann", "bob"} {
		o = bigfit(t, "label", "X.npy", "two.csv", "--ids", "ids.txt", "--headless", "oracle.csv", "-n", "40", "--model", "lgc",
			"--annotator", name, "--twice", "0.5", "-o", "two.npz", "--report", "two.html")
	}
	if o.code != 0 || !strings.Contains(o.stderr, "Krippendorff's α 1.00") {
		t.Errorf("%d\n%s", o.code, o.stderr)
	}
	if page := string(readFile(t, "two.html")); !strings.Contains(page, "bob") || !strings.Contains(page, "Krippendorff") {
		t.Error("the report does not compare annotators")
	}
}

// answersOf returns the ids and labels of a table of answers.
func answersOf(t *testing.T, path string) string {
	t.Helper()
	var out strings.Builder
	for _, row := range fields(t, path) {
		out.WriteString(row[0] + " " + row[1] + " " + row[2] + "\n")
	}
	return out.String()
}

// What cannot be labeled is refused before any work, with the remedy.
func TestLabelUsage(t *testing.T) {
	intoDigits(t)
	writeFile(t, "foreign.csv", []byte("id,label\nd1,x\n"))
	writeFile(t, "others.csv", []byte("id,label,annotator,time,seconds,shown\nz1,x,,T,1.0,one\n"))
	for _, c := range []struct {
		line string
		want []string
	}{
		{"label", []string{"needs points"}},
		{"label X.npy labels.npy", []string{"labels.npy", ".csv"}},
		{"label X.npy foreign.csv", []string{"foreign.csv", "another program", "-y"}},
		{"label X.npy others.csv --ids ids.txt", []string{"others.csv", "none of its 1 rows"}},
		{"label X.npy --target 0", []string{"--target"}},
		{"label X.npy --twice 2", []string{"--twice"}},
		{"label X.npy -n 5", []string{"--headless"}},
		{"label X.npy --model laprls-linear --no-model -o m.npz", []string{"--no-model"}},
		{"label X.npy --model svr", []string{"svr", "classes"}},
		{"label X.npy --show image:20x20", []string{"400 numbers", "784"}},
		{"label X.npy --show image:big", []string{"28x28"}},
		{"label X.npy --show nothing", []string{"nothing"}},
		{"label X.npy --classes nan", []string{"nan"}},
		{"label X.npy --listen nowhere", []string{"127.0.0.1:8080"}},
		{"label X.npy --folder missing --show image:28x28", []string{"missing"}},
		{"label X.npy -o X.npy", []string{"X.npy"}},
		{"label X.npy --headless oracle.csv", []string{"oracle.csv"}},
	} {
		o := bigfit(t, append(strings.Fields(c.line), "-q")...)
		if o.code != 2 {
			t.Errorf("%s: exit code %d\n%s", c.line, o.code, o.stderr)
		}
		for _, w := range c.want {
			if !strings.Contains(o.stderr, w) {
				t.Errorf("%s: no %q in\n%s", c.line, w, o.stderr)
			}
		}
	}
	if got := string(readFile(t, "foreign.csv")); got != "id,label\nd1,x\n" {
		t.Errorf("foreign.csv is now %q", got)
	}
}

// Roads from a table: its ids, its column of labels, a column that is shown, pictures below a folder in the report,
// a model of points without components that is labeled on, and all points labeled.
func TestLabelTable(t *testing.T) {
	t.Chdir(t.TempDir())
	var x, oracle, meta strings.Builder
	x.WriteString("id,height,weight,kind\n")
	oracle.WriteString("id,label\n")
	meta.WriteString("id,path\n")
	must(t, os.MkdirAll("pics/sub", 0o755))
	var picture bytes.Buffer
	must(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))))
	for i := range 60 {
		class := []string{"ant", "bee", "cow"}[i%3]
		kind := ""
		if i < 6 {
			kind = class
		}
		fmt.Fprintf(&x, "p%d,%d.%d,%d.%d,%s\n", i, 10*(i%3), i%7, 5*(i%3), i%11, kind)
		fmt.Fprintf(&oracle, "p%d,%s\n", 59-i, []string{"ant", "bee", "cow"}[(59-i)%3])
		fmt.Fprintf(&meta, "p%d,sub/%d.png\n", i, i)
		writeFile(t, fmt.Sprintf("pics/sub/%d.png", i), picture.Bytes())
	}
	writeFile(t, "X.csv", []byte(x.String()))
	writeFile(t, "oracle.csv", []byte(oracle.String()))
	writeFile(t, "meta.csv", []byte(meta.String()))
	label := func(line string) outcome {
		t.Helper()
		o := bigfit(t, append([]string{"label"}, strings.Fields(line)...)...)
		if o.code != 0 {
			t.Fatalf("%s: %d\n%s\n%s", line, o.code, o.out, o.stderr)
		}
		return o
	}

	o := label("X.csv l.csv --id id --label kind --headless oracle.csv -n 12 --model lgc --show meta.csv:path --folder pics --report r.html")
	if !strings.Contains(o.out, "18 of 60 points labeled") || strings.Contains(o.stderr, "warning") {
		t.Errorf("%s\n%s", o.out, o.stderr)
	}
	if n := strings.Count(string(readFile(t, "r.html")), "data:image/png"); n == 0 {
		t.Error("no picture is in the report")
	}

	// The points of the model are kept, without a table of their columns.
	o = label("model.npz more.csv --show meta.csv:path --folder pics --headless oracle.csv -n 3 -o on.npz")
	if !strings.Contains(o.out, "21 of 60 points labeled") {
		t.Errorf("on from a model: %s", o.out)
	}

	// A column of the table of the ids is named without its file, and a file that is missing is named.
	o = label("X.csv m.csv --id id --drop kind --show height --headless oracle.csv -n 2 --no-model")
	if !strings.Contains(o.stderr, `column "height" of X.csv`) {
		t.Errorf("%s", o.stderr)
	}
	writeFile(t, "X.npy", npyOf(t, 60))
	o = label("X.npy i.csv --ids meta.csv:id --show path --folder pics --headless oracle.csv -n 2 --no-model")
	if !strings.Contains(o.stderr, `column "path" of meta.csv`) {
		t.Errorf("%s", o.stderr)
	}
	fail(t, 2, []string{"mta.csv"}, "label", "X.npy", "--ids", "meta.csv:id", "--show", "mta.csv:path")
	fail(t, 2, []string{"--label", "-y"}, "label", "X.csv", "--id", "id", "--label", "kind", "-y", "oracle.csv", "--headless", "oracle.csv")

	// With all labels nothing is asked, and nothing is doubted about marks.
	o = label("X.csv all.csv --id id --drop kind -y oracle.csv --headless oracle.csv -n 5 --model lgc -o all.npz")
	if !strings.Contains(o.stderr, "All points are labeled.") || strings.Contains(o.stderr, "--unlabeled") {
		t.Errorf("%s", o.stderr)
	}
}

// npyOf is a file of n points of three groups.
func npyOf(t *testing.T, n int) []byte {
	t.Helper()
	var x []float64
	for i := range n {
		x = append(x, float64(10*(i%3))+float64(i%7)/10, float64(5*(i%3))+float64(i%11)/10)
	}
	must(t, npy.WriteFile("points.npy", []int{n, 2}, x))
	return readFile(t, "points.npy")
}

// startLabel starts the command and returns it with the address of its page.
func startLabel(t *testing.T, args ...string) (*exec.Cmd, string, *strings.Builder) {
	t.Helper()
	path, err := program()
	must(t, err)
	cmd := exec.Command(path, append([]string{"label", "X.npy", "--ids", "ids.txt", "--model", "lgc", "-q"}, args...)...)
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	address := make(chan string, 1)
	text := &strings.Builder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
			if at := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); at != "" {
				address <- at
			}
		}
	}()
	select {
	case at := <-address:
		return cmd, at, text
	case <-done:
	case <-time.After(time.Minute):
	}
	t.Fatalf("no address is printed:\n%s", text)
	return nil, "", nil
}

// labelOne labels a point as the page does.
func labelOne(t *testing.T, address string, point int, label string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"tab": "t", "points": []int{point}, "label": label, "kind": "one"})
	must(t, err)
	r, err := http.NewRequest(http.MethodPost, address+"label", strings.NewReader(string(body)))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", regexp.MustCompile(`http://[^/]+`).FindString(address))
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		t.Fatalf("%s: %s", response.Status, text)
	}
}

// An interrupt makes the model; a closed terminal ends at once; a kill loses nothing that was confirmed.
func TestLabelSignals(t *testing.T) {
	intoDigits(t)
	dir, err := os.Getwd()
	must(t, err)
	labels := 0
	for _, c := range []struct {
		signal os.Signal
		code   int
		model  bool
	}{{os.Kill, -1, false}, {syscall.SIGTERM, 130, false}, {syscall.SIGHUP, 130, false}, {os.Interrupt, 0, true}} {
		// Under nohup the signal of a closed terminal is ignored, and so it is by the command.
		if sig, ok := c.signal.(syscall.Signal); ok && signal.Ignored(sig) {
			continue
		}
		cmd, address, text := startLabel(t)
		limit := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer limit.Stop()
		for range 6 {
			labelOne(t, address, labels, "c"+strconv.Itoa(labels%2))
			labels++
		}
		must(t, cmd.Process.Signal(c.signal))
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%v: exit code %d\n%s", c.signal, code, text)
		}
		if rows := strings.Count(string(readFile(t, "labels.csv")), "\n"); rows != 1+labels {
			t.Errorf("%v: %d rows of %d labels", c.signal, rows, labels)
		}
		if exists(filepath.Join(dir, "model.npz")) != c.model {
			t.Errorf("%v: a model, %v expected", c.signal, c.model)
		}
	}
}
