package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// bigfit help MODEL shows the flags of the model and of no other.
func TestHelpOfModels(t *testing.T) {
	every := map[string]bool{}
	for _, l := range all.Learners {
		for _, p := range l.Params() {
			every[p.Name] = true
		}
	}
	for _, p := range pipeline.GraphParams.Params() {
		every[p.Name] = true
	}
	for _, l := range all.Learners {
		info := l.Info()
		out := succeed(t, "help", info.Name)
		if !strings.Contains(out, info.Help) || !strings.Contains(out, info.Source) || !strings.Contains(out, "bigfit fit --model "+info.Name) {
			t.Errorf("help %s: %s", info.Name, out)
		}
		page := succeed(t, "fit", "--model", info.Name, "--help")
		for name := range every {
			has := shell.HasParam(l, pipeline.GraphParams.Params(), name)
			for what, text := range map[string]string{"help": out, "fit --help": page} {
				if listsFlag(text, name) != has {
					t.Errorf("%s of %s: --%s is there: %v, want %v", what, info.Name, name, !has, has)
				}
			}
		}
		for line := range strings.Lines(out) {
			if len([]rune(line)) > 132 {
				t.Errorf("help %s: long line %s", info.Name, line)
			}
		}
		// A name stands for a command or for a model, not for both.
		everyCommand(func(c *cobra.Command) {
			if c.Name() == info.Name {
				t.Errorf("%s is a command and a model", info.Name)
			}
		})
	}
	if out := succeed(t, "help", "lgc", "--json"); out != succeed(t, "models", "lgc", "--json") {
		t.Errorf("help lgc --json: %s", out)
	}
}

// listsFlag tells whether a help text has a line of a flag.
func listsFlag(text, name string) bool {
	return regexp.MustCompile(`(?m)^(      |  -\w, )--` + name + `( |$)`).MatchString(text)
}

// The help of fit and tune is a page that names all models and no parameter of theirs.
func TestHelpIsAPage(t *testing.T) {
	for _, command := range []string{"fit", "tune"} {
		out := succeed(t, command, "--help")
		if n := strings.Count(out, "\n"); n > 76 {
			t.Errorf("%s --help has %d lines", command, n)
		}
		for _, l := range all.Learners {
			for _, p := range l.Params() {
				own := command == "tune" && (p.Name == "folds" || p.Name == "repeats") // of the cross-validation
				if listsFlag(out, p.Name) && !own {
					t.Errorf("%s --help has --%s", command, p.Name)
				}
			}
			if command == "fit" && !slices.Contains(strings.Fields(out), l.Info().Name) {
				t.Errorf("fit --help does not name %s", l.Info().Name)
			}
		}
	}
}

// Points and labels may be arguments or flags.
func TestForms(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-o", "g.npz")
	succeed(t, "fit", "--model", "eigenmap", "X.npy", "y.npy", "-o", "m.npz")
	succeed(t, "predict", "m.npz", "X.npy", "-o", "p.npy")
	succeed(t, "embed", "X.npy", "--model", "e.npz", "-o", "e.npy")
	must(t, os.Mkdir("out", 0o777))
	for _, same := range [][]string{
		{"graph X.npy -o out/g.npz", "graph -X X.npy -o out/g.npz"},
		{"neighbors X.npy -o out/n.npz", "neighbors -X X.npy -o out/n.npz"},
		{"fit --model eigenmap X.npy y.npy -o out/m.npz", "fit --model eigenmap -X X.npy -y y.npy -o out/m.npz", "fit --model eigenmap -X X.npy y.npy -o out/m.npz", "fit --model eigenmap X.npy -y y.npy -o out/m.npz"},
		{"tune --model lgc X.npy y.npy --alpha 0.9,0.5 -o out/t.json", "tune --model lgc -X X.npy -y y.npy --alpha 0.9,0.5 -o out/t.json"},
		{"predict m.npz X.npy -o out/p.npy", "predict m.npz -X X.npy -o out/p.npy", "predict -X X.npy m.npz -o out/p.npy"},
		{"update m.npz new.npy -o out/m.npz", "update m.npz -X new.npy -o out/m.npz"},
		{"eval y.npy p.npy", "eval -y y.npy --predictions p.npy", "eval -y y.npy p.npy", "eval --predictions p.npy y.npy"},
		{"eigs g.npz -n 5 -o out/e.npz", "eigs --graph g.npz -n 5 -o out/e.npz", "eigs g.npz --pairs 5 -o out/e.npz"},
		{"embed X.npy -o out/e.npy", "embed -X X.npy -o out/e.npy"},
		{"embed g.npz X.npy -o out/e.npy", "embed g.npz -X X.npy -o out/e.npy"},
		{"embed --transform e.npz new.npy -o out/e.npy", "embed --transform e.npz -X new.npy -o out/e.npy"},
		{"features X.npy -o out/f.npy", "features -X X.npy -o out/f.npy"},
		{"cluster X.npy -c 3 -o out/c.npy", "cluster -X X.npy -c 3 -o out/c.npy", "cluster g.npz -c 3 -o out/c.npy"},
	} {
		var first string
		for i, line := range same {
			o := bigfit(t, append(strings.Fields(line), "--json")...)
			if o.code != 0 {
				t.Errorf("bigfit %s: %s", line, o.stderr)
				continue
			}
			if i == 0 {
				first = o.out
			} else if withoutTimes(o.out) != withoutTimes(first) {
				t.Errorf("bigfit %s:\n%s\nand %s:\n%s", line, o.out, same[0], first)
			}
		}
	}
	if o := bigfit(t, "fit", "g.npz", "y.npy", "-o", "rows.npz"); o.code != 0 || !strings.Contains(o.stderr, "warning: g.npz is a graph that bigfit made") {
		t.Errorf("a graph as points: %d %s", o.code, o.stderr)
	}
	w, err := sparse.ReadNPZ("g.npz", 1<<30)
	must(t, err)
	must(t, sparse.WriteNPZ("other.npz", w, nil)) // as another program writes it
	if o := bigfit(t, "fit", "other.npz", "y.npy", "-o", "rows.npz"); o.code != 0 || !strings.Contains(o.stderr, "warning: other.npz is a square and symmetric matrix") {
		t.Errorf("a graph of another program as points: %d %s", o.code, o.stderr)
	}
	// What could be a graph is said.
	if o := bigfit(t, "cluster", "X.npy", "-c", "3", "-o", "c.npy"); !strings.Contains(o.stderr, "points: X.npy") {
		t.Errorf("cluster X.npy: %s", o.stderr)
	}
	if o := bigfit(t, "eval", "y.npy", "p.npy"); !strings.Contains(o.stderr, "truth: y.npy; predictions: p.npy") {
		t.Errorf("eval: %s", o.stderr)
	}
}

// withoutTimes leaves the times of stages out of a result.
func withoutTimes(out string) string {
	text, _, _ := strings.Cut(out, `"stages":`)
	return text
}

// -k is the number of neighbours of every command that has it.
func TestShorthandOfNeighbors(t *testing.T) {
	with := 0
	everyCommand(func(c *cobra.Command) {
		f := c.Flags().ShorthandLookup("k")
		switch {
		case f == nil:
		case f.Name != "neighbors":
			t.Errorf("%s -k is --%s", c.Name(), f.Name)
		default:
			with++
		}
	})
	if with < 5 {
		t.Errorf("%d commands have -k", with)
	}
}

func TestCompletion(t *testing.T) {
	complete := func(args ...string) []string {
		out := strings.Split(strings.TrimSpace(succeed(t, append([]string{"__complete"}, args...)...)), "\n")
		for i, line := range out {
			out[i], _, _ = strings.Cut(line, "\t")
		}
		return out[:len(out)-1] // the last line is for the shell
	}
	var laps []string
	for _, l := range all.Learners {
		if name := l.Info().Name; strings.HasPrefix(name, "lap") {
			laps = append(laps, name)
		}
	}
	if got := complete("fit", "--model", "lap"); !slices.Equal(got, laps) {
		t.Errorf("models: %v, want %v", got, laps)
	}
	if got := complete("help", "lap"); !slices.Equal(got, laps) {
		t.Errorf("help: %v, want %v", got, laps)
	}
	if got := complete("models", "lgc"); !slices.Equal(got, []string{"lgc"}) {
		t.Errorf("models: %v", got)
	}
	for _, line := range [][]string{{"fit", "--model", "lgc", "--"}, {"tune", "--model=lgc", "X.npy", "--"}} {
		got := complete(line...)
		for flag, want := range map[string]bool{"--alpha": true, "--neighbors": true, "--points": true, "--threads": true, "--gamma-a": false, "--penalty": false, "--kernel": false} {
			if slices.Contains(got, flag) != want {
				t.Errorf("%v: %s is there: %v, want %v", line, flag, !want, want)
			}
		}
	}
	if got := complete("fit", "--model", "eigenmap", "--"); !slices.Contains(got, "--penalty") || slices.Contains(got, "--kernel") {
		t.Errorf("flags of the default model: %v", got)
	}
	if got := complete("graph", "--symmetry", ""); !slices.Equal(got, []string{"either", "both", "sum"}) {
		t.Errorf("choices: %v", got)
	}
}

// bigfit man writes a page for each command with all that its help says, which man shows.
func TestMan(t *testing.T) {
	t.Chdir(t.TempDir())
	if out := succeed(t, "man", "pages"); !strings.HasPrefix(out, "pages: ") {
		t.Errorf("%s", out)
	}
	everyCommand(func(c *cobra.Command) {
		path := filepath.Join("pages", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		page := string(readFile(t, path))
		for _, part := range []string{".SH NAME", ".SH DESCRIPTION", c.Short} {
			if !strings.Contains(page, part) {
				t.Errorf("%s lacks %q", path, part)
			}
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(page, "--"+f.Name+`\fP`) {
				t.Errorf("%s lacks --%s", path, f.Name)
			}
		})
	})
	succeed(t, "man")
	if !exists("man/man1/bigfit-fit.1") {
		t.Error("no folder is named and man/man1 has no pages")
	}
	fail(t, 1, []string{"not a directory"}, "man", "pages/bigfit-fit.1/x")
	path, err := exec.LookPath("man")
	if err != nil {
		t.Skip("man is not installed; the pages are not read by another program")
	}
	for _, name := range []string{"bigfit", "bigfit-kernels"} {
		cmd := exec.Command(path, "--warnings", "-E", "UTF-8", "-l", "pages/"+name+".1")
		cmd.Env = append(os.Environ(), "MANWIDTH=200", "MANPAGER=cat", "LC_ALL=C.UTF-8")
		var out, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 || !strings.Contains(out.String(), "DESCRIPTION") {
			t.Errorf("man %s: %v\n%s", name, err, stderr.String())
		}
		if name == "bigfit-kernels" && !strings.Contains(out.String(), "  1/l Σ V(f(x), y) + γ_A ‖f‖² + γ_I fᵀLᵖf\n") {
			t.Errorf("man %s lacks the formula as it stands:\n%s", name, out.String())
		}
	}
}

// TestDefaultsOfModel: the help of a model has the defaults that its fit uses.
func TestDefaultsOfModel(t *testing.T) {
	for _, c := range []struct {
		model string
		want  []string
	}{
		{"auto", []string{"(default: 10)", "(default: self-tuning", "(default: 50 where X"}},
		{"lgc", []string{"(default: 8)", "(default: one)", "(default: 0)"}},
	} {
		for _, args := range [][]string{{"help", c.model}, {"models", c.model}, {"fit", "--model", c.model, "--help"}} {
			o := bigfit(t, args...)
			for _, text := range c.want {
				if o.code != 0 || !strings.Contains(o.out, text) {
					t.Errorf("bigfit %s: exit code %d, or no word of %q:\n%s", strings.Join(args, " "), o.code, text, o.out)
				}
			}
		}
	}
}
