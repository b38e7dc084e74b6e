package main

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
)

// tuned is the output of tune in JSON.
type tuned struct {
	Model, Metric, Best         string
	Folds, Repeats, Done, Total int
	Labeled                     int
	Scores                      []struct {
		Setting models.Values
		Mean    float64
		StdErr  float64 `json:"std_err"`
		Folds   []float64
		Fault   string
	}
}

func parseTuned(t *testing.T, text string) tuned {
	t.Helper()
	var r tuned
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r
}

// intoFew is intoBlobs with values v.npy of a regression, 30 labels few.npy and
// three labels a point Y.npy.
func intoFew(t *testing.T) {
	t.Helper()
	intoBlobs(t)
	x, y := blobs(blobCount, 0)
	values, several := make([]float64, blobCount), make([]float64, 3*blobCount)
	for i := range values {
		several[3*i+int(y[i]/10)], several[3*i+1] = 1, float64(i%2)
		values[i] = math.Sin(float64(x[i*blobColumns]) / 20)
		if i >= 30 {
			values[i], y[i] = math.NaN(), -1
		}
	}
	must(t, npy.WriteFile("v.npy", nil, values))
	must(t, npy.WriteFile("few.npy", nil, y))
	must(t, npy.WriteFile("Y.npy", []int{blobCount, 3}, several))
}

// The best model is that of the command line printed, to the bit.
func TestTuneBest(t *testing.T) {
	intoFew(t)
	succeed(t, "graph", "X.npy", "-k", "5")
	for i, c := range []struct {
		line   string
		points int
	}{
		{"--model laprls-linear -y few.npy --gamma-a 0.1,10 --gamma-i 0,0.01,1 --power 1,2 --neighbors 4,7", 18},
		{"--model lapsvm-linear -y few.npy --c 0.01,1 --gamma-i 0.01 --scaling per-pair --weights heat -k 3,6", 4},
		{"--model svm-linear -y few.npy --gamma-a 1,2 --loss huberized-hinge --width 0.5 --metric auc", 2},
		{"--model laprls -y few.npy --gamma-a 1e-3,1e-1 --gamma-i 0.001,0.1 --sigma median,mean,9 --graph graph.npz", 12},
		{"--model lapsvm -y few.npy --gamma-a 1e-3 --gamma-i 0.001,0.1 --kernel linear --radius 20", 2},
		{"--model rls -y y.npy --labels 20 --seed 3 --gamma-a 1e-3,1e-1 --intercept --folds 4", 2},
		{"--model svr -y v.npy --gamma-a 1e-4,1e-2 --sigma 10,40 --epsilon 0.01", 4},
		{"--model laprls-linear -y v.npy --gamma-a 1e-4,1e-2 --gamma-i 0.1", 2},
		{"--model laprls -y few.npy --landmarks 20 --sampling kmeans++ --gamma-a 1e-3,1e-1 --gamma-i 0,0.1 --sigma 9,30", 8},
		{"--model lapsvm -y few.npy --approximation fourier --features 60 --c 1 --gamma-i 0.001,0.1 -k 4,6 --power 2", 4},
		{"--model rls -y v.npy --approximation matrix-free --landmarks 10 --gamma-a 1e-2,1 --tolerance 1e-4", 2},
		{"--model vvmr -y Y.npy --labels 40 --gamma-a 1e-3,1e-1 --gamma-i 1e-3 --gamma-o 0,0.5 --output-neighbors 1", 4},
		{"--model tsvm -y few.npy --gamma-a 1e-3,1e-1 --sigma 30", 2},
		{"--model tsvm-linear -y few.npy --c 1,10 --unlabeled-weight 0.1,1", 4},
		{"--model rls-linear -y few.npy --c 1,10", 2},
		{"--model knn -y few.npy --vote 1,3", 2},
		{"--model sssl -y v.npy --eigenfunctions 2,5 --sigma 20,40 --intercept", 4},
		{"--model sssl -y few.npy --sigma median,20 --landmarks 40", 2},
		{"--model lgc -y few.npy --alpha 0.5,0.99 --neighbors 4,8 --metric prbep --repeats 2", 4},
		{"--model tikhonov -y v.npy --gamma-a 1e-4 --gamma-i 0.1,1 --power 2 --laplacian normalized --pca 3", 2},
		{"--model harmonic -y few.npy --class-mass --priors 1,1,2", 3},
		{"--model svm-linear -y few.npy", 7},
		{"--model laprls -y few.npy --gamma-a 0.1", 4},
		{"--model poisson -y few.npy -k 4,6 --method kd-tree", 2},
		{"--model eigenmap -y few.npy -p 2,4,8 -k 5,6 --laplacian random-walk", 6},
		{"--model eigenmap -y few.npy -p 9,12 --penalty iterated --penalty-power 1 --gamma 0.1,1", 4},
	} {
		t.Run(c.line, func(t *testing.T) {
			args := append([]string{"tune", "-X", "X.npy", "--best", "best file.npz", "-q"}, strings.Fields(c.line)...)
			r := parseTuned(t, succeed(t, append(args, "--json")...))
			if len(r.Scores) != c.points || r.Done != r.Total || r.Total != c.points*r.Folds*r.Repeats {
				t.Errorf("%d points, want %d; %d of %d fits", len(r.Scores), c.points, r.Done, r.Total)
			}
			for _, s := range r.Scores {
				if len(s.Folds) != r.Folds*r.Repeats || s.Fault != "" {
					t.Errorf("%+v", s)
				}
			}

			best := content(t, "best file.npz")
			command := strings.ReplaceAll(r.Best, "'best file.npz'", "again.npz")
			if !strings.HasPrefix(command, "bigfit fit --model "+r.Model+" -X X.npy -y ") || strings.Contains(command, "'") {
				t.Fatal(r.Best)
			}
			succeed(t, strings.Fields(command)[1:]...)
			if content(t, "again.npz") != best {
				t.Errorf("%s makes another model", r.Best)
			}
			if file := parseTuned(t, string(readFile(t, "tune.json"))); file.Best != r.Best || len(file.Scores) != c.points {
				t.Errorf("tune.json has %+v", file)
			}

			// That the search has the same bits at any number of threads is tested in models/selection.
			if i%9 != 0 {
				return
			}
			if out := succeed(t, append(args, "--threads", "1", "-o", "one.json")...); !strings.Contains(out, r.Best) || !strings.Contains(out, "± se") {
				t.Errorf("no table and command line in\n%s", out)
			}
			if a, b := readFile(t, "tune.json"), readFile(t, "one.json"); string(a) != string(b) {
				t.Error("one thread gives another result")
			}
		})
	}
}

func TestTuneWithoutPoints(t *testing.T) {
	intoFew(t)
	succeed(t, "graph", "X.npy", "-k", "5")
	r := parseTuned(t, succeed(t, "tune", "--model", "lgc", "--graph", "graph.npz", "-y", "few.npy", "--alpha", "0.5,0.9", "--json"))
	if len(r.Scores) != 2 || r.Labeled != 30 || r.Scores[0].Setting["neighbors"] != "" || !strings.Contains(r.Best, "--graph=graph.npz") {
		t.Errorf("%+v", r)
	}
	fail(t, 2, []string{"--neighbors is 4,8", "graph.npz was made with 5"}, "tune", "--model", "lgc", "--graph", "graph.npz", "-y", "few.npy", "-k", "4,8")
}

// C is 1/(2γ_A l).
func TestTuneC(t *testing.T) {
	intoFew(t)
	r := parseTuned(t, succeed(t, "tune", "--model", "svm", "-X", "X.npy", "-y", "few.npy", "--c", "10,0.1", "--json"))
	for _, s := range r.Scores {
		if c := 1 / (2 * s.Setting.Float("gamma-a") * 30); !(math.Abs(c-10) < 1e-12) && !(math.Abs(c-0.1) < 1e-12) {
			t.Errorf("γ_A %v of C 10 and 0.1", s.Setting.Float("gamma-a"))
		}
	}
}

func TestTuneTellsOfFaults(t *testing.T) {
	intoFew(t)
	out := succeed(t, "tune", "--model", "laprls", "-X", "X.npy", "-y", "few.npy", "--kernel", "linear", "--gamma-a", "1e-300", "--gamma-i", "0,1", "--power", "6")
	for _, w := range []string{"failed", "1 failed: K + γ_A l I: the kernel is not positive definite", "--gamma-i=1 "} {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
	o := bigfit(t, "tune", "--model", "lgc", "-X", "X.npy", "-y", "few.npy", "--alpha", "0.9", "--max-iterations", "1", "--best", "m.npz")
	if o.code != shell.ExitNotConverged || !exists("m.npz") || !strings.Contains(o.out, "5 fits did not converge") {
		t.Errorf("%+v", o)
	}
}

func TestTuneBadUsage(t *testing.T) {
	intoFew(t)
	const good = "-X X.npy -y few.npy "
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", []string{"--model", "lapsvm", "see bigfit tune --help"}},
		{"--model svm2 " + good, []string{`"svm2"`, "lapsvm"}},
		{"--model oneclass " + good, []string{"oneclass", "labels"}},
		{"--model rls-linear -X X.npy", []string{"-y"}},
		{"--model rls-linear -y y.npy", []string{"-X"}},
		{"--model rls-linear --gamma-a 1,x " + good, []string{`--gamma-a has the value "x"`, "each must be a number, positive"}},
		{"--model rls-linear --gamma-a 1,,2 " + good, []string{`--gamma-a has the value ""`, "a number"}},
		{"--model rls-linear --gamma-a 1,-1 " + good, []string{"--gamma-a has the value -1", "positive"}},
		{"--model rls-linear --gamma-a 1,inf " + good, []string{"--gamma-a has the value inf"}},
		{"--model rls-linear --gamma-a 1 --gamma-i 1 " + good, []string{"--gamma-i is not for rls-linear"}},
		{"--model lgc --c 1 " + good, []string{"--c is not for lgc", "γ_A"}},
		{"--model svm-linear --c 1 --gamma-a 1 " + good, []string{"--c and --gamma-a"}},
		{"--model svm-linear --c 0 " + good, []string{"--c has the value 0", "positive"}},
		{"--model laprls --gamma-a 1 --gamma-i 1,-2 " + good, []string{"--gamma-i has the value -2"}},
		{"--model laprls --gamma-a 1 --gamma-i 1 --power 1,1.5 " + good, []string{"--power has the value 1.5", "whole number"}},
		{"--model laprls --gamma-a 1 --gamma-i 1 --sigma 1,wide " + good, []string{`--sigma has the value "wide"`, "median"}},
		{"--model laprls --gamma-a 1 --gamma-i 1 -k 3,2.5 " + good, []string{"--neighbors has the value 2.5", "a whole number, at least 1"}},
		{"--model laprls --gamma-a 1 --gamma-i 1 -k 3,0 " + good, []string{"--neighbors has the value 0"}},
		{"--model laprls --gamma-a 1 --gamma-i 1 -k 3,90 " + good, []string{"--neighbors is 90", "at most 89"}},
		{"--model laprls --gamma-a 1 --gamma-i 1 --memory-limit 60KB " + good, []string{"--memory-limit"}},
		{"--model lgc --alpha 0.5,1 " + good, []string{"--alpha has the value 1", "between 0 and 1"}},
		{"--model eigenmap -p 3,0 " + good, []string{"--eigenvectors has the value 0"}},
		{"--model sssl --eigenfunctions 40 " + good, []string{"40 eigenfunctions for 30 labeled points"}},
		{"--model sssl --gamma-a 1 " + good, []string{"--gamma-a is not for sssl"}},
		{"--model svr --gamma-a 1 --landmarks 5 " + good, []string{"--landmarks is not for svr"}},
		{"--model laprls --gamma-a 1 --gamma-i 0 --landmarks 80 --memory-limit 60KB " + good, []string{"tune needs", "--landmarks"}},
		{"--model eigenmap --gamma 1 " + good, []string{"--gamma", "--penalty"}},
		{"--model eigenmap --penalty heat -p 5 " + good, []string{"--penalty heat", "--gamma"}},
		{"--model eigenmap --penalty iterated -p 5 --gamma 1 --penalty-power 1,2 " + good, []string{`--penalty-power is "1,2"`, "a number"}},
		{"--model rls-linear --gamma-a 1 --folds 1 " + good, []string{"--folds is 1", "at least 2"}},
		{"--model rls-linear --gamma-a 1 --folds 31 " + good, []string{"--folds is 31", "30 points"}},
		{"--model rls-linear --gamma-a 1 --repeats 0 " + good, []string{"--repeats is 0"}},
		{"--model rls-linear --gamma-a 1 --metric best " + good, []string{"--metric", `"best"`, "auc"}},
		{"--model rls-linear --gamma-a 1 --metric rmse " + good, []string{"--metric is rmse", "classes"}},
		{"--model rls-linear --gamma-a 1 --metric auc -X X.npy -y v.npy", []string{"--metric is auc", "rmse"}},
		{"--model rls-linear --gamma-a 1 --metric auc --folds 30 " + good, []string{"auc is not defined on any fold", "fewer folds"}},
		{"--model rls-linear --gamma-a 1 -o X.npy " + good, []string{"X.npy is both read and written"}},
		{"--model rls-linear --gamma-a 1 --best tune.json " + good, []string{"written twice"}},
		{"--model rls-linear --gamma-a 1 -X new.npy -y missing.npy", []string{"missing.npy"}},
	} {
		fail(t, 2, c.want, append([]string{"tune"}, strings.Fields(c.line)...)...)
	}
	if exists("tune.json") {
		t.Error("a refused command wrote its table")
	}
	fail(t, 1, []string{"nowhere"}, strings.Fields("tune --model rls-linear --gamma-a 1 -o nowhere/t.json "+good)...)
	t.Setenv("BIGFIT_GAMMA_A", "1,2")
	if r := parseTuned(t, succeed(t, append(strings.Fields("tune --json --model rls-linear "+good), "-q")...)); len(r.Scores) != 2 {
		t.Errorf("from the environment: %+v", r)
	}
}

// After an interrupt the scores known are printed.
func TestTuneInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no interrupts to send on Windows")
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	intoWide(t)
	gammas := "1"
	for i := range 60 {
		gammas += "," + models.FormatFloat(math.Pow(0.9, float64(i+1)))
	}
	line := []string{"tune", "--model", "laprls", "-X", "wide.npy", "-y", "wide_y.npy", "--labels", "40", "--gamma-a", "1", "--gamma-i", gammas, "--json"}
	var o outcome
	var stopped time.Duration
	// A busy machine needs longer for the first fit.
	for wait := 300 * time.Millisecond; o.out == "" && wait < 10*time.Second; wait *= 2 {
		o, stopped = untilAfter(t, "tune: needs", wait, line...)
	}
	if o.code != shell.ExitInterrupted || stopped.Seconds() > 2 {
		t.Errorf("after %v: %+v", stopped, o)
	}
	if r := parseTuned(t, o.out); r.Done == 0 || r.Done >= r.Total || r.Best != "" || len(r.Scores) != 61 {
		t.Errorf("%d of %d fits, best %q", r.Done, r.Total, r.Best)
	}
	if _, err := os.Stat("tune.json"); err == nil {
		t.Error("tune.json is there")
	}
}
