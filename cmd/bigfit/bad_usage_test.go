package main

import (
	"os"
	"strings"
	"testing"
)

func TestBadSettings(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy")
	for _, c := range []struct {
		line string
		want []string
	}{
		{"graph X.npy -k 90 -o out.npz", []string{"--neighbors is 90", "90 points", "89"}},
		{"graph X.npy -k 1000000000000000 -o out.npz", []string{"--neighbors is 1000000000000000"}},
		{"graph X.npy -k -3 -o out.npz", []string{"-3"}},
		{"graph X.npy -k 3 --radius 2 -o out.npz", []string{"neighbours", "radius"}},
		{"graph X.npy --radius -1 -o out.npz", []string{"-1"}},
		{"graph X.npy --radius nan -o out.npz", []string{"--radius is nan", "positive"}},
		{"graph X.npy --radius 2 --weights self-tuning -o out.npz", []string{"self-tuning"}},
		{"graph X.npy --t -1 --weights heat -o out.npz", []string{"-1"}},
		{"graph X.npy --pca 5 -o out.npz", []string{"5 principal components", "between 1 and 4"}},
		{"graph X.npy --pca -1 -o out.npz", []string{"--pca is -1", "at least 0"}},
		{"graph X.npy --distance taxi -o out.npz", []string{"--distance", `"taxi"`, "euclidean", "angle", "see bigfit graph --help"}},
		{"graph X.npy --weights two -o out.npz", []string{"--weights", `"two"`, "one", "heat", "self-tuning"}},
		{"graph X.npy --symmetry no -o out.npz", []string{"--symmetry", `"no"`, "either", "both", "sum"}},
		{"graph X.npy --radius 25 --symmetry sum -o out.npz", []string{"symmetry sum", "radius", "leave it out"}},
		{"eigs graph.npz --laplacian none -o out.npz", []string{"--laplacian", `"none"`, "combinatorial", "normalized", "random-walk"}},
		{"eigs graph.npz -n 91 -o out.npz", []string{"91", "90 points", "between 1 and"}},
		{"eigs graph.npz --below 0", []string{"--below is 0", "positive and finite"}},
		{"eigs graph.npz --below -0.5", []string{"--below is -0.5", "positive and finite"}},
		{"eigs graph.npz --below nan", []string{"--below is NaN", "positive and finite"}},
		{"eigs graph.npz --below inf", []string{"--below is +Inf", "positive and finite"}},
		{"eigs graph.npz --below 0.1 -n 5", []string{"--below does not go with --pairs", "leave one of both out"}},
		{"eigs graph.npz --below 0.1 --largest", []string{"--below does not go with --largest"}},
		{"eigs graph.npz --below 0.1 --checkpoint c", []string{"--below does not go with --checkpoint"}},
		{"eigs graph.npz --below 0.1 --verify graph.npz", []string{"--below does not go with --verify"}},
		{"eigs graph.npz --below 0.1 --engine slepc", []string{"--below does not go with --engine slepc"}},
		{"eigs graph.npz -n 0 -o out.npz", []string{"between 1 and"}},
		{"eigs graph.npz -n 5 --tolerance -1 -o out.npz", []string{"tolerance -1"}},
		{"eigs graph.npz -n 5 --tolerance nan -o out.npz", []string{"NaN"}},
		{"fit -X X.npy -y y.npy --model best -o out.npz", []string{`"best"`, "eigenmap", "laprls-linear", "lap-oneclass"}},
		{"fit --model eigenmap -X X.npy -y y.npy --penalty big -o out.npz", []string{"--penalty", `"big"`, "iterated", "heat"}},
		{"fit --model eigenmap -X X.npy -y y.npy -p 91 -o out.npz", []string{"--eigenvectors is 91", "90 points"}},
		{"fit --model eigenmap -X X.npy -y y.npy -p -1 -o out.npz", []string{"--eigenvectors is -1"}},
		{"fit --model eigenmap -X X.npy -y y.npy --gamma 1 -o out.npz", []string{"--gamma is for --penalty iterated, heat, sum, polynomial or kernel, not none"}},
		{"fit --model eigenmap -X X.npy -y y.npy --penalty heat --gamma -1 -o out.npz", []string{"-1"}},
		{"fit --model eigenmap -X X.npy -y y.npy --penalty heat --folds 1 -o out.npz", []string{"--folds is 1", "at least 2"}},
		{"fit --model eigenmap -X X.npy -y y.npy -k 90 -o out.npz", []string{"--neighbors is 90"}},
		{"fit --model eigenmap -X X.npy -o out.npz", []string{"-y", "see bigfit fit --help"}},
		{"fit --model eigenmap -y y.npy -o out.npz", []string{"-X", "--graph", "--eigs"}},
		{"fit", []string{"fit --model auto needs labels (-y) and points (-X)", "(--graph)", "see bigfit fit --help"}},
		{"predict", []string{"the model file", "0 are given", "see bigfit predict --help"}},
		{"graph", []string{"the file of the points", "see bigfit graph --help"}},
		{"eigs a b", []string{"2 are given"}},
		{"eigs graph.npz -k 10", []string{"-k is the number of neighbours", "-n", "see bigfit eigs --help"}},
		{"eigs -X X.npy", []string{"bigfit graph"}},
		{"predict -X X.npy --model m.npz", []string{"bigfit predict model.npz new.npy"}},
		{"fitt X.npy y.npy", []string{`unknown command "fitt"; did you mean fit?`, "see bigfit --help"}},
		{"lgc X.npy y.npy", []string{"lgc is a model", "bigfit fit --model lgc", "bigfit help lgc"}},
		{"nothing", []string{`unknown command "nothing"` + "\nsee"}},
		{"fit --points X.npy --y y.npy", []string{"unknown flag: --y; did you mean -y?"}},
		{"fit X.npy y.npy --modle lgc", []string{"did you mean --model?"}},
		{"fit X.npy y.npy --model lcg", []string{`unknown model "lcg"`, "did you mean lgc?"}},
		{"fit X.npy y.npy -model lgc", []string{"did you mean --model?"}},
		{"fit --model eigenmap X.npy y.npy --clusters 3", []string{"unknown flag: --clusters; fit has none, but cluster"}},
		{"models lcg", []string{"did you mean lgc?"}},
		{"help lcg", []string{`"lcg"; did you mean lgc?`}},
		{"graph -X X.npy new.npy -o out.npz", []string{"-X and new.npy both give points", "--append"}},
		{"eval a b c", []string{"c is neither"}},
		{"info", []string{"a file"}},
		{"info X.npy y.npy", []string{"2 are given"}},
		{"demo now", []string{"now"}},
		{"demo -n 10 -o run", []string{"-n is 10", "at least 2000"}},
		{"demo -n 9000000000000000000 -o run", []string{"-n is 9000000000000000000", "at most"}},
		{"reproduce mnist", []string{"reproduce is not a command of bigfit", "go run ./bench/reproduce", "checkout of the source", "see bigfit --help"}},
		{"grpah X.npy", []string{`"grpah"`, "did you mean graph?", "see bigfit --help"}},
		{"graph X.npy --nieghbors 3", []string{"--nieghbors", "did you mean --neighbors?", "see bigfit graph --help"}},
		{"graph X.npy -k three", []string{`--neighbors is "three"`, "a whole number, at least 1"}},
		{"graph X.npy --t one", []string{`--t is "one"`, "a number, positive"}},
		{"graph models -o out.npz", []string{"bigfit: models: no such file"}},
		{"graph X.npy --pca 5 -o out.npz", []string{"bigfit: 5 principal components"}},
		{"info X.npy --threads -1", []string{"--threads is -1", "0 for all"}},
		{"info X.npy --threads x", []string{`--threads is "x"`}},
		{"info X.npy --seed -1", []string{`--seed is "-1"`}},
		{"info X.npy --memory-limit much", []string{"--memory-limit", `"much"`, "8GiB"}},
		{"info X.npy --memory-limit -1GB", []string{"--memory-limit", `"-1GB"`}},
		{"info X.npy --memory-limit 0", []string{"--memory-limit", `"0"`}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
	succeed(t, "info", "X.npy", "--threads", "0")
}

func TestEnvironment(t *testing.T) {
	intoBlobs(t)
	t.Run("bad", func(t *testing.T) {
		t.Setenv("BIGFIT_THREADS", "x")
		fail(t, 2, []string{"BIGFIT_THREADS", `"x"`}, "info", "X.npy")
		succeed(t, "info", "X.npy", "--threads", "1") // the command line wins
	})
	t.Run("choice", func(t *testing.T) {
		t.Setenv("BIGFIT_WEIGHTS", "two")
		fail(t, 2, []string{"BIGFIT_WEIGHTS", `"two"`, "self-tuning"}, "graph", "X.npy")
		succeed(t, "info", "X.npy")
	})
	t.Run("size", func(t *testing.T) {
		t.Setenv("BIGFIT_MEMORY_LIMIT", "lots")
		fail(t, 2, []string{"BIGFIT_MEMORY_LIMIT", `"lots"`}, "info", "X.npy")
	})
	t.Run("misspelt", func(t *testing.T) {
		t.Setenv("BIGFIT_TREADS", "")
		succeed(t, "info", "X.npy") // an empty variable is none
		t.Setenv("BIGFIT_TREADS", "1")
		fail(t, 2, []string{"BIGFIT_TREADS belongs to no flag; did you mean BIGFIT_THREADS?"}, "info", "X.npy")
		succeed(t, "fit", "--help")
		succeed(t, "help", "fit")
	})
	t.Run("others", func(t *testing.T) {
		t.Setenv("BIGFIT_DATA", ".")
		t.Setenv("BIGFIT_CLUSTERS", "3") // of another command
		t.Setenv("BIGFIT_SOAK", "1")
		succeed(t, "info", "X.npy")
	})
	t.Run("used", func(t *testing.T) {
		t.Setenv("BIGFIT_JSON", "true")
		t.Setenv("BIGFIT_QUIET", "1")
		t.Setenv("BIGFIT_NEIGHBORS", "5")
		t.Setenv("BIGFIT_OUTPUT", "env.npz")
		t.Setenv("BIGFIT_SEED", "")
		t.Setenv("BIGFIT_HELP", "x")
		o := bigfit(t, "graph", "X.npy")
		if o.code != 0 || o.stderr != "" || !strings.HasPrefix(o.out, "{") || !exists("env.npz") {
			t.Errorf("%+v", o)
		}
		if out := succeed(t, "info", "env.npz"); !strings.Contains(out, `"k":5`) {
			t.Errorf("info: %s", out)
		}
		// The environment does not contradict a file; only the command line does.
		t.Setenv("BIGFIT_NEIGHBORS", "6")
		succeed(t, "fit", "--model", "eigenmap", "--graph", "env.npz", "-y", "y.npy", "-o", "model.npz")
	})
}

func TestBadOutputs(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy")
	succeed(t, "eigs", "graph.npz", "-n", "20")
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy")
	must(t, os.Mkdir("folder", 0o777))
	for _, line := range []string{"graph X.npy -o", "eigs graph.npz -n 5 -o", "fit --model eigenmap -X X.npy -y y.npy -o", "fit --model eigenmap -X X.npy -y y.npy -o m.npz --predictions",
		"predict model.npz -X new.npy -o", "predict model.npz -o p.npy --scores", "demo -n 2000 -o"} {
		args := strings.Fields(line)
		if args[0] != "demo" {
			fail(t, 1, []string{"nowhere/out.npz cannot be written", "no such file"}, append(args, "nowhere/out.npz")...)
			fail(t, 1, []string{"folder cannot be written", "is a directory"}, append(args, "folder")...)
			fail(t, 1, []string{"/dev/null", "not a regular file"}, append(args, "/dev/null")...)
		}
		fail(t, 1, []string{"X.npy", "not a directory"}, append(args, "X.npy/out.npz")...)
	}
	if os.Geteuid() != 0 {
		must(t, os.Mkdir("sealed", 0o555))
		fail(t, 1, []string{"sealed/out.npz", "permission"}, "graph", "X.npy", "-o", "sealed/out.npz")
	}
	for _, c := range []struct{ line, want string }{
		{"graph X.npy -o ./X.npy", "X.npy is both read and written"},
		{"graph X.npy:key -o X.npy", "X.npy is both read and written"},
		{"eigs graph.npz -o graph.npz", "graph.npz is both read and written"},
		{"fit --model eigenmap -X X.npy -y y.npy -o y.npy", "y.npy is both read and written"},
		{"fit --model eigenmap --graph graph.npz -y y.npy --predictions graph.npz -o m.npz", "graph.npz is both"},
		{"fit --model eigenmap -X X.npy -y y.npy -o m.npz --predictions ./m.npz", "written twice"},
		{"predict model.npz -o model.npz", "both read and written"},
		{"predict model.npz -o p.npy --scores p.npy", "written twice"},
	} {
		fail(t, 2, []string{c.want}, strings.Fields(c.line)...)
	}
}

func TestMemoryLimits(t *testing.T) {
	t.Chdir(t.TempDir())
	ringGraph(t, "ring.npz", 1500)
	formats(t, make([]uint8, 250*40), make([]int64, 250))
	intoWide(t)
	for _, c := range []struct {
		line string
		want []string
	}{
		{"graph wide.npy --memory-limit 100kB -o out.npz", []string{"wide.npy", "reading", "--memory-limit"}},
		{"graph wide.npz --memory-limit 100kB -o out.npz", []string{"wide.npz", "--memory-limit"}},
		{"graph x.csv --memory-limit 10kB -o out.npz", []string{"x.csv", "--memory-limit"}},
		{"graph x.svm --memory-limit 10kB -o out.npz", []string{"x.svm", "--memory-limit"}},
		{"graph x.idx.gz --memory-limit 1kB -o out.npz", []string{"x.idx.gz", "--memory-limit"}},
		{"eigs ring.npz --memory-limit 20kB -o out.npz", []string{"ring.npz", "--memory-limit"}},
		{"graph wide.npy --memory-limit 200KiB -o out.npz", []string{"neighbours needs", "200.0 KiB", "--pca", "--memory-limit"}},
		{"graph wide.npy --pca 3 --memory-limit 200KiB -o out.npz", []string{"pca needs", "200.0 KiB", "--memory-limit"}},
		{"eigs ring.npz --below 1 --memory-limit 2MB -o out.npz", []string{"eigenpairs needs", "eigenvalues are below 1", "lower the bound", "--memory-limit"}},
		{"eigs ring.npz -n 500 --memory-limit 2MB -o out.npz", []string{"eigenpairs needs", "fewer eigenpairs", "--memory-limit"}},
		{"fit --model eigenmap --graph ring.npz -y wide_y.npy -p 500 --memory-limit 2MB -o out.npz", []string{"fit needs", "fewer --eigenvectors", "--memory-limit"}},
		{"demo -n 10000 --memory-limit 1MB -o run", []string{"digits needs", "-n", "--memory-limit"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
}
