package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// mostQuickStart is how long the quick start may take.
const mostQuickStart = time.Minute

// TestRelease makes a release for this computer twice, in two clones of the last commit and the second
// time with an empty build cache, compares the files, and installs and runs what it made. It takes minutes:
// make release-check.
func TestRelease(t *testing.T) {
	if os.Getenv("RELEASE_CHECK") == "" {
		t.Skip("make release-check runs this test, which takes minutes")
	}
	dir := t.TempDir()
	var made [2]map[string][]byte
	var out string
	for i := range made {
		clone := filepath.Join(dir, strings.Repeat("folder", i+1))
		must(t, trial(t, exec.Command("git", "clone", "--quiet", root, clone)))
		out = filepath.Join(clone, "dist")
		cmd := exec.Command("go", "run", "./packaging/release", "-platforms", "host", "-out", out)
		cmd.Dir = clone
		cmd.Env = os.Environ()
		if i > 0 {
			cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(dir, "cache"))
		}
		must(t, trial(t, cmd))
		made[i] = contents(t, out)
	}
	if len(made[0]) < 5 {
		t.Errorf("%d files", len(made[0]))
	}
	for name, data := range made[0] {
		if !bytes.Equal(data, made[1][name]) {
			t.Errorf("%s differs between the two folders", name)
		}
		if strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".deb") || strings.HasSuffix(name, ".whl") {
			t.Logf("%s: %d bytes, the same twice", name, len(data))
		}
	}

	t.Run("archive", func(t *testing.T) { checkArchive(t, out) })
	t.Run("wheel", func(t *testing.T) { checkWheel(t, out) })
	t.Run("deb", func(t *testing.T) { checkDeb(t, out) })
}

// contents returns the files of a folder.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		out[e.Name()] = data
	}
	return out
}

// trial runs a command and logs how long it took.
func trial(t *testing.T, cmd *exec.Cmd) error {
	t.Helper()
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	t.Logf("%.1f s: %s", time.Since(begin).Seconds(), strings.Join(cmd.Args, " "))
	return nil
}

// one returns the file of a pattern.
func one(t *testing.T, pattern ...string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(pattern...))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("%s: %v", filepath.Join(pattern...), found)
	}
	return found[0]
}

// quickStart draws points, fits, and answers for new points. bigfit is a command line that runs the program
// in an empty folder.
func quickStart(t *testing.T, dir string, bigfit ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), mostQuickStart)
	defer cancel()
	for _, line := range []string{"version", "demo -n 2000 -o digits -q", "fit digits/X.npy digits/y.npy --labels 100 -o model.npz --report report.html -q",
		"predict model.npz digits/X.npy -o answers.csv -q"} {
		cmd := exec.CommandContext(ctx, bigfit[0], append(bigfit[1:], strings.Fields(line)...)...)
		cmd.Dir = dir
		must(t, trial(t, cmd))
	}
}

func checkArchive(t *testing.T, out string) {
	dir := t.TempDir()
	must(t, trial(t, exec.Command("tar", "-xzf", one(t, out, "bigfit-*-"+runtime.GOOS+"-*.tar.gz"), "-C", dir)))
	quickStart(t, dir, one(t, dir, "bigfit-*", "bigfit"))
}

// pythonStart is the quick start in Python.
const pythonStart = `
import numpy as np, bigfit
X, y = np.load("digits/X.npy"), np.load("digits/y.npy").astype(int)
few = np.full(len(y), -1); few[::20] = y[::20]
model = bigfit.AutoClassifier().fit(X, few)
right = (model.transduction_ == y).mean()
assert right > 0.8, right
assert model.predict_proba(X[:5]).shape == (5, 10)
`

func checkWheel(t *testing.T, out string) {
	dir := t.TempDir()
	if err := trial(t, exec.Command("/usr/bin/python3", "-m", "venv", "--system-site-packages", filepath.Join(dir, "venv"))); err != nil {
		t.Skip(err)
	}
	scripts := filepath.Join(dir, "venv", "bin")
	must(t, trial(t, exec.Command(filepath.Join(scripts, "pip"), "install", "--quiet", "--no-index", "--no-deps", one(t, out, "*.whl"))))
	quickStart(t, dir, filepath.Join(scripts, "bigfit"))

	ctx, cancel := context.WithTimeout(t.Context(), mostQuickStart)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(scripts, "python"), "-c", pythonStart)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir} // neither PATH nor PYTHONPATH
	must(t, trial(t, cmd))
}

// checkDeb installs the package in a new root: a Debian of debootstrap where there is one, else a folder
// that holds nothing but the package.
func checkDeb(t *testing.T, out string) {
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root can change the root")
	}
	deb := one(t, out, "*.deb")
	dir := filepath.Join(t.TempDir(), "root")
	if _, err := exec.LookPath("debootstrap"); err == nil {
		must(t, trial(t, exec.Command("debootstrap", "--variant=minbase", "stable", dir, "http://deb.debian.org/debian")))
		must(t, trial(t, exec.Command("cp", deb, filepath.Join(dir, "bigfit.deb"))))
		must(t, trial(t, exec.Command("chroot", dir, "dpkg", "-i", "/bigfit.deb")))
	} else {
		for _, folder := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "tmp"} {
			must(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
		}
		must(t, os.WriteFile(filepath.Join(dir, "var/lib/dpkg/status"), nil, 0o644))
		must(t, trial(t, exec.Command("dpkg", "--root="+dir, "-i", deb)))
	}
	quickStart(t, dir, "chroot", dir, "/usr/bin/bigfit")
	if !strings.Contains(string(contents(t, filepath.Join(dir, "usr/share/doc/bigfit"))["copyright"]), "Apache") {
		t.Error("no copyright")
	}
}
