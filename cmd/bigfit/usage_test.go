package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
)

// everyCommand calls fn for all commands of ours.
func everyCommand(fn func(*cobra.Command)) {
	a := &app{&shell.App{}}
	root := a.command()
	fn(root)
	for _, c := range root.Commands() {
		fn(c)
	}
}

func TestHelp(t *testing.T) {
	t.Chdir(t.TempDir())
	if out := succeed(t); out != first || strings.Count(out, "\n") != 8 {
		t.Errorf("bigfit alone prints %d lines:\n%s", strings.Count(out, "\n"), out)
	}
	for _, args := range [][]string{{"help"}, {"--help"}} {
		out := succeed(t, args...)
		for _, w := range []string{"Usage:", "demo", "graph", "eigs", "fit", "predict", "eval", "compare", "info", "BIGFIT_MEMORY_LIMIT", "Exit codes", "130"} {
			if !strings.Contains(out, w) {
				t.Errorf("bigfit %v lacks %q", args, w)
			}
		}
	}
	if out := succeed(t, "--version"); out != "bigfit version "+shell.Version+"\n" {
		t.Errorf("--version prints %q", out)
	}
	everyCommand(func(c *cobra.Command) {
		if c.Short == "" || c.Long == "" {
			t.Errorf("%s says too little", c.Name())
		}
		if c.Name() == "bigfit" {
			return
		}
		out := succeed(t, "help", c.Name())
		if out != succeed(t, c.Name(), "--help") {
			t.Errorf("bigfit help %s and bigfit %s --help differ", c.Name(), c.Name())
		}
		for line := range strings.Lines(out) {
			if strings.Count(line, "(default") > 1 || strings.Contains(line, "(default )") || strings.Contains(line, "0 B") {
				t.Errorf("help %s: %s", c.Name(), line)
			}
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 132 {
				t.Errorf("help %s: line of %d characters: %s", c.Name(), n, line)
			}
		}
	})
}

// The same flag is the same everywhere, and choices are all named.
func TestFlags(t *testing.T) {
	listed := regexp.MustCompile(`"([a-z-]+)"`)
	seen := map[string]string{}
	everyCommand(func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || f.Usage[0] >= 'A' && f.Usage[0] <= 'Z' && !strings.HasPrefix(f.Usage, "Laplacian") || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: usage %q", c.Name(), f.Name, f.Usage)
			}
			if c.Name() == "graph" || c.Name() == "fit" {
				text := fmt.Sprint(f.Shorthand, f.Usage, f.DefValue)
				if old, ok := seen[f.Name]; ok && old != text && f.Name != "output" && f.Name != "graph" && f.Name != "points" {
					t.Errorf("--%s: %q and %q", f.Name, old, text)
				}
				seen[f.Name] = text
			}
			v, ok := f.Value.(encoding.TextUnmarshaler)
			if !ok {
				return
			}
			err := v.UnmarshalText([]byte("no such name"))
			if err == nil {
				t.Fatalf("--%s takes any name", f.Name)
			}
			for _, m := range listed.FindAllStringSubmatch(strings.TrimPrefix(err.Error(), `"no such name"`), -1) {
				if !strings.Contains(f.Usage, m[1]) {
					t.Errorf("--%s: the help does not name %s: %s", f.Name, m[1], f.Usage)
				}
			}
		})
	})
}

// With --json stdout has one JSON value, with -q stderr has nothing, and without
// them stdout has the result and nothing of the progress.
func TestStreams(t *testing.T) {
	intoBlobs(t)
	for _, line := range []string{
		"graph X.npy", "eigs graph.npz -n 10", "fit --model eigenmap -X X.npy -y y.npy --labels 12", "fit --model eigenmap --eigs eigs.npz -y y.npy",
		"predict model.npz -o p.npy", "eval -y y.npy --predictions p.npy", "info X.npy", "info graph.npz", "info eigs.npz",
	} {
		args := strings.Fields(line)
		plain := bigfit(t, args...)
		if plain.code != 0 || plain.out == "" || strings.Contains(plain.out, " needs ") || strings.Contains(plain.out, " s  ") {
			t.Errorf("bigfit %s: %+v", line, plain)
		}
		if args[0] != "info" && args[0] != "eval" && plain.stderr == "" && !strings.Contains(line, "--eigs") {
			t.Errorf("bigfit %s shows no progress", line)
		}
		quiet := bigfit(t, append(args, "-q")...)
		if quiet.code != 0 || quiet.out != plain.out || quiet.stderr != "" {
			t.Errorf("bigfit %s -q: %+v, want the stdout %q", line, quiet, plain.out)
		}
		o := bigfit(t, append(args, "--json")...)
		dec := json.NewDecoder(strings.NewReader(o.out))
		var v any
		if err := dec.Decode(&v); err != nil || dec.More() {
			t.Errorf("bigfit %s --json: %v in %q", line, err, o.out)
		}
	}
	// The manifest of another program need not be JSON.
	onlyArrays(t, "graph.npz", "odd.npz", "data", "manifest")
	b := readFile(t, "odd.npz")
	at := strings.LastIndex(string(b), `{"format"`)
	b[at] = '!'
	writeFile(t, "odd.npz", b)
	if o := bigfit(t, "info", "odd.npz", "--json"); o.code == 0 && !json.Valid([]byte(o.out)) {
		t.Errorf("info of an odd manifest: %+v", o)
	}
}

func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	out := succeed(t, "demo", "-n", "2000", "--json", "-q")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 15 {
		t.Errorf("%d rows, %v in %s", len(rows), err, out)
	}
	for line := range strings.Lines(string(readFile(t, "bigfit-demo/log.jsonl"))) {
		if !json.Valid([]byte(line)) || !strings.Contains(line, `"event":`) {
			t.Errorf("log.jsonl has the line %q", line)
		}
	}
	for _, name := range []string{"X.npy", "y.npy", "predictions.npy", "graph.npz", "eigs.npz", "manifest.json", "log.jsonl", "report.html"} {
		if info, err := os.Stat("bigfit-demo/" + name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := strings.Count(string(readFile(t, "bigfit-demo/report.html")), `<p class="panel">`); n != 6 {
		t.Errorf("%d decision surfaces in the report", n)
	}
	// The pieces take the files of the demo.
	e := errorOf(t, "fit", "--model", "eigenmap", "-X", "bigfit-demo/X.npy", "-y", "bigfit-demo/y.npy", "--graph", "bigfit-demo/graph.npz", "--eigs", "bigfit-demo/eigs.npz", "--labels", "100")
	if e > 40 {
		t.Errorf("error %v %%", e)
	}
	first := readFile(t, "bigfit-demo/eigs.npz")
	if again := succeed(t, "demo", "-n", "2000", "--json", "-q", "--threads", "1"); again != out || string(readFile(t, "bigfit-demo/eigs.npz")) != string(first) {
		t.Error("one thread gives another result")
	}
}
