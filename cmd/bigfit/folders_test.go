package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/testmode"
)

// folderCommands are command lines that replace or remove files of the folder FOLDER.
var folderCommands = []struct{ name, line string }{
	{"graph --checkpoint", "graph X.npy -o out.npz --checkpoint FOLDER"},
	{"graph --checkpoint --resume", "graph X.npy -o out.npz --checkpoint FOLDER --resume"},
	{"neighbors --checkpoint", "neighbors X.npy -o out.npz --checkpoint FOLDER"},
	{"eigs --checkpoint", "eigs graph.npz -n 5 -o out.npz --checkpoint FOLDER"},
	{"eigs --checkpoint --resume", "eigs graph.npz -n 5 -o out.npz --checkpoint FOLDER --resume"},
	{"fit --checkpoint", "fit X.npy y.npy --model harmonic -o out.npz --checkpoint FOLDER"},
	{"tune --checkpoint", "tune X.npy y.npy --model lgc --best out.npz --checkpoint FOLDER"},
	{"compare --checkpoint", "compare X.npy y.npy --models lgc,knn --labels 30 --splits 2 --checkpoint FOLDER"},
	{"graph --work", "graph X.npy --parts 2 -k 5 --work FOLDER -o out.npz"},
	{"graph --work --divide", "graph X.npy --parts 2 -k 5 --work FOLDER --divide"},
	{"fit --work", "fit --model rls-linear X.npy y.npy --gamma-a 1 --parts 2 --work FOLDER -o out.npz"},
	{"graph -o folder/", "graph X.npy -k 5 -o FOLDER/"},
	{"demo", "demo -n 2000 -o FOLDER"},
}

// folderNames are all names of files that the program uses in its own folders.
var folderNames = []string{
	"choice.npz", "graph.npz", "neighbours.npz", "search.npz", "eigenpairs.npz", "eigs-snapshot.npz", "fits.npz",
	"division.npz", "truth.npz", "order.npy", "assigned.npy", "assigned.npz", "points-00000.npy", "part-00000.npy", "part-00000.npz",
	"part-00000-norm.npz", "squares-00000.npy", "lists-1-00000.npy", "lists-1-00000.npz", "lengths-1-00000.npy", "weights-00000.npy",
	"indptr.npy", "indices.npy", "data.npy", "manifest.json",
	"X.npy", "y.npy", "eigs.npz", "report.html", "errors.svg", "log.jsonl", "predictions.npy",
	atomicfile.MarkFile,
}

func intoFolders(t *testing.T) {
	t.Helper()
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-k", "5", "-o", "graph.npz", "-q")
}

// TestUserFolders: nothing is written into a folder of the user, whatever names its files have, and
// nothing in it is removed.
func TestUserFolders(t *testing.T) {
	intoFolders(t)
	for at, c := range folderCommands {
		t.Run(c.name, func(t *testing.T) {
			for i, name := range folderNames {
				if !testmode.Campaigns() && (i+at)%5 != 0 {
					continue // a fifth of the names, others for each command
				}
				path := filepath.Join("mine", name)
				must(t, os.Mkdir("mine", 0o755))
				writeFile(t, path, []byte("mine"))
				args := strings.Fields(strings.ReplaceAll(c.line, "FOLDER", "mine"))
				o := bigfit(t, append(args, "-q")...)
				if o.code == 0 || !strings.Contains(o.stderr, "mine") {
					t.Errorf("with %s: exit code %d\n%s", name, o.code, o.stderr)
				}
				if got := string(readFile(t, path)); got != "mine" {
					t.Errorf("%s was changed: %q", name, got)
				}
				if got := listing(t, "mine"); got != "mine\n"+path {
					t.Errorf("beside %s: %s", name, got)
				}
				if exists("out.npz") {
					t.Errorf("with %s: there is an output", name)
				}
				must(t, os.RemoveAll("mine"))
			}
		})
	}
}

// TestOwnFolders: a folder that a run made serves the next run, and a file of the user that is added
// to it under a name of the program is an error that names it, or stays as it is.
func TestOwnFolders(t *testing.T) {
	intoFolders(t)
	for _, c := range folderCommands {
		t.Run(c.name, func(t *testing.T) {
			args := append(strings.Fields(strings.ReplaceAll(c.line, "FOLDER", "own")), "-q")
			defer os.RemoveAll("own")
			defer os.Remove("out.npz")
			succeed(t, args...)
			succeed(t, args...)

			writeFile(t, "own/thesis.tex", []byte("mine"))
			bigfit(t, args...)
			if got := string(readFile(t, "own/thesis.tex")); got != "mine" {
				t.Errorf("thesis.tex was changed: %q", got)
			}
			must(t, os.Remove("own/thesis.tex"))
			if !strings.Contains(c.line, "--checkpoint") {
				return
			}
			for _, name := range folderNames[:7] {
				path := filepath.Join("own", name)
				writeFile(t, path, []byte("mine"))
				o := bigfit(t, args...)
				// A resumed run reads the stages that it needs, and leaves the others alone.
				if !strings.Contains(c.line, "--resume") {
					o.check(t, 2, []string{path, "another folder"}, args)
				} else if o.code != 0 {
					o.check(t, 2, []string{path}, args)
				}
				if got := string(readFile(t, path)); got != "mine" {
					t.Errorf("%s was changed: %q", name, got)
				}
				must(t, os.Remove(path))
			}
		})
	}
}

// TestFilesInOwnFolders: inputs and outputs in a folder whose files the run replaces are refused
// before any work.
func TestFilesInOwnFolders(t *testing.T) {
	intoFolders(t)
	for _, line := range []string{
		"graph X.npy -o graph.npz --checkpoint .",
		"graph X.npy -o ck/graph.npz --checkpoint ck",
		"graph X.npy -o ck/deep/er/graph.npz --checkpoint ck",
		"graph X.npy -o ck/ --checkpoint ck",
		"graph X.npy -o g/ --checkpoint g/ck",
		"graph ./X.npy -o ../graph.npz --checkpoint ./",
		"neighbors X.npy -o ck/n.npz --checkpoint ck",
		"eigs graph.npz -n 5 -o e.npz --checkpoint .",
		"eigs graph.npz -n 5 -o ck/eigenpairs.npz --checkpoint ck",
		"fit X.npy y.npy --model harmonic --graph graph.npz -o m.npz --checkpoint .",
		"fit X.npy y.npy --model harmonic -o m.npz --predictions ck/p.csv --checkpoint ck",
		"tune X.npy y.npy --model lgc -o ck/m.npz --checkpoint ck",
		"compare X.npy y.npy --models lgc,knn --labels 30 --splits 2 -o ck/t.md --checkpoint ck",
		"graph X.npy --parts 2 -k 5 --work . -o g.npz",
		"graph X.npy --parts 2 -k 5 --work w -o w/g.npz",
		"graph X.npy --parts 2 -k 5 --work g/w -o g/",
		"fit --model rls-linear X.npy y.npy --gamma-a 1 --parts 2 --work w -o w/m.npz",
	} {
		t.Run(line, func(t *testing.T) {
			args := append(strings.Fields(line), "-q")
			flag := "--checkpoint"
			if strings.Contains(line, "--work") {
				flag = "--work"
			}
			fail(t, 2, []string{flag}, args...)
		})
	}
	t.Run("through a link", func(t *testing.T) {
		must(t, os.Mkdir("ck", 0o755))
		must(t, os.Symlink("ck", "link"))
		fail(t, 2, []string{"--checkpoint"}, strings.Fields("graph X.npy -o link/graph.npz --checkpoint ck -q")...)
	})
}
