package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
)

// answersFile holds the recorded answers. BIGFIT_UPDATE_ANSWERS=1 writes it anew.
const answersFile = "testdata/answers.json"

// updateAnswers is read before TestMain clears the environment.
var updateAnswers = os.Getenv("BIGFIT_UPDATE_ANSWERS") == "1"

// On another instruction path than the recorded one, this share of the classes and
// clusters of a case may differ, and numbers by this share of the largest in their file.
const (
	classTolerance  = 0.02
	numberTolerance = 1e-6
)

// answer is the content of one output: integers separated by spaces, or float64 as
// little-endian bytes.
type answer struct {
	Shape  []int  `json:"shape"`
	Ints   string `json:"ints,omitempty"`
	Floats []byte `json:"floats,omitempty"`
}

// recorded is the content of answersFile: the outputs of each case by file name.
type recorded struct {
	Path  string                       `json:"path"`
	Cases map[string]map[string]answer `json:"cases"`
}

// instructionPath names what the bits of an answer depend on.
func instructionPath() string { return runtime.GOARCH + " " + simd.Path() }

// The answers of all models on small data are those recorded: in every bit on the
// instruction path of the record, within the tolerances above on others.
func TestAnswers(t *testing.T) {
	golden, err := filepath.Abs(answersFile)
	must(t, err)
	var want recorded
	if !updateAnswers {
		must(t, json.Unmarshal(readFile(t, golden), &want))
	}
	cases := allAnswerCases(t)
	root := t.TempDir()
	t.Chdir(root)
	answerFixtures(t)
	got := recorded{Path: instructionPath(), Cases: map[string]map[string]answer{}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(root, "case-"+c.name)
			must(t, os.Mkdir(dir, 0o755))
			t.Chdir(dir)
			for _, line := range c.commands {
				succeed(t, append(strings.Fields(line), "-q")...)
			}
			got.Cases[c.name] = outputs(t)
			if updateAnswers {
				return
			}
			if want.Cases[c.name] == nil {
				t.Fatalf("no answers are recorded; run with BIGFIT_UPDATE_ANSWERS=1")
			}
			share := max(classTolerance, unsureClasses[c.name])
			sameAnswers(t, got.Cases[c.name], want.Cases[c.name], want.Path == got.Path, share)
		})
	}
	if !updateAnswers {
		for name := range want.Cases {
			if !slices.ContainsFunc(cases, func(c answerCase) bool { return c.name == name }) {
				t.Errorf("%s: answers of %q, which is not a case", answersFile, name)
			}
		}
		return
	}
	if t.Failed() || len(got.Cases) != len(cases) {
		t.Fatalf("%d of %d cases ran well; %s is left as it was", len(got.Cases), len(cases), answersFile)
	}
	text, err := json.MarshalIndent(got, "", " ")
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(golden), 0o755))
	writeFile(t, golden, append(text, '\n'))
}

// answerCase is command lines that run in an empty directory below that of the
// fixtures. What they write as .npy and tune.json is compared.
type answerCase struct {
	name     string
	commands []string
}

// allAnswerCases puts the tables together and checks that they leave no model out.
func allAnswerCases(t *testing.T) []answerCase {
	t.Helper()
	cases := slices.Clone(commandAnswers)
	for _, c := range fitAnswers {
		d, ok := answerData[c.data]
		if !ok {
			t.Fatalf("%s: no data %q", c.name, c.data)
		}
		predict := "predict model.npz " + d.query + " -o new.npy " + c.predict
		if d.classes {
			predict += " --scores scores.npy"
		}
		cases = append(cases, answerCase{c.name, []string{"fit --model eigenmap " + d.fit + " " + c.fit + " --predictions train.npy -o model.npz", predict}})
	}
	seen, lines := map[string]bool{}, " "
	for _, c := range cases {
		if seen[c.name] {
			t.Fatalf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		lines += strings.Join(c.commands, " ") + " "
	}
	for _, l := range all.Learners {
		if name := l.Info().Name; !strings.Contains(lines, " --model "+name+" ") {
			t.Errorf("no case fits %s", name)
		}
		// Learners without a grid of their own are fitted setting by setting.
		if name := l.Info().Name; isGrid(l) && !strings.Contains(lines, " tune --model "+name+" ") {
			t.Errorf("no case tunes %s", name)
		}
	}
	return cases
}

// outputs reads the arrays and the table of tune in the working directory.
func outputs(t *testing.T) map[string]answer {
	t.Helper()
	files, err := filepath.Glob("*.npy")
	must(t, err)
	out := map[string]answer{}
	for _, file := range files {
		x, err := npy.ReadFile(file, 0)
		must(t, err)
		switch v := x.Data.(type) {
		case []int64:
			out[file] = answer{Shape: x.Shape, Ints: strings.Trim(fmt.Sprint(v), "[]")}
		case []float64:
			out[file] = answer{Shape: x.Shape, Floats: bytesOf(t, v)}
		case []float32:
			wide, err := x.Float64s()
			must(t, err)
			out[file] = answer{Shape: x.Shape, Floats: bytesOf(t, wide)}
		default:
			t.Fatalf("%s holds %s", file, x)
		}
	}
	if exists("tune.json") {
		out["tune.json grid"], out["tune.json scores"] = tuneAnswers(t)
	}
	if len(out) == 0 {
		t.Fatal("nothing was written")
	}
	return out
}

// tuneAnswers are the points of the grid of tune.json, best first, and their scores:
// the mean and the folds.
func tuneAnswers(t *testing.T) (grid, scores answer) {
	t.Helper()
	var r struct {
		Scores []struct {
			Setting models.Values
			Mean    *float64 // nil is NaN
			Folds   []*float64
		}
	}
	must(t, json.Unmarshal(readFile(t, "tune.json"), &r))
	if len(r.Scores) == 0 {
		t.Fatal("tune.json has no scores")
	}
	var points, values []float64
	for _, s := range r.Scores {
		// The columns are those of the recorded grids.
		v := s.Setting
		power := v.Float("power")
		if power == 0 && v.Float("gamma-i") > 0 {
			power = 1 // the default
		}
		pairs := v.Float("eigenvectors") + v.Float("eigenfunctions")
		points = append(points, v.Float("gamma-a"), v.Float("gamma-i"), v.Float("gamma"), v.Float("alpha"), pairs, v.Float("sigma"), power, v.Float("neighbors"))
		for _, v := range append([]*float64{s.Mean}, s.Folds...) {
			if v == nil {
				values = append(values, math.NaN())
			} else {
				values = append(values, *v)
			}
		}
	}
	rows := len(r.Scores)
	return answer{Shape: []int{rows, len(points) / rows}, Floats: bytesOf(t, points)},
		answer{Shape: []int{rows, len(values) / rows}, Floats: bytesOf(t, values)}
}

func bytesOf(t *testing.T, v []float64) []byte {
	t.Helper()
	b, err := binary.Append(nil, binary.LittleEndian, v)
	must(t, err)
	return b
}

func (a answer) floats(t *testing.T) []float64 {
	t.Helper()
	v := make([]float64, len(a.Floats)/8)
	_, err := binary.Decode(a.Floats, binary.LittleEndian, v)
	must(t, err)
	return v
}

// sameAnswers compares the outputs of a case with the record, in every bit or within
// the tolerances; share is that of the classes that may differ.
func sameAnswers(t *testing.T, got, want map[string]answer, bits bool, share float64) {
	t.Helper()
	files := slices.Sorted(maps.Keys(want))
	if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, files) {
		t.Fatalf("the commands write %v; recorded are %v", have, files)
	}
	var entries, other int
	for _, file := range files {
		g, w := got[file], want[file]
		if !slices.Equal(g.Shape, w.Shape) || (g.Ints == "") != (w.Ints == "") {
			t.Fatalf("%s has another shape or type: %v, recorded %v", file, g.Shape, w.Shape)
		}
		if bits && (g.Ints != w.Ints || !bytes.Equal(g.Floats, w.Floats)) {
			t.Errorf("%s: other bits than recorded", file)
		}
		a, b := strings.Fields(g.Ints), strings.Fields(w.Ints)
		entries += len(b)
		for i := range b {
			if a[i] != b[i] {
				other++
			}
		}
		var largest, far float64
		x, y := g.floats(t), w.floats(t)
		for i := range y {
			if !math.IsNaN(x[i]) || !math.IsNaN(y[i]) {
				far, largest = math.Max(far, math.Abs(x[i]-y[i])), math.Max(largest, math.Abs(y[i]))
			}
		}
		if !(far <= numberTolerance*largest) { // as of NaN on one side
			t.Errorf("%s: numbers differ by %.3g, the largest is %.3g", file, far, largest)
		}
	}
	if !(float64(other) <= share*float64(entries)) {
		t.Errorf("%d of %d classes differ", other, entries)
	}
}

func isGrid(l models.Learner) bool { _, ok := l.(models.GridLearner); return ok && tunable(l) }
