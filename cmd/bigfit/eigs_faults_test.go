package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/lanczos"
)

// spider writes a graph of n vertices: 40 paths that meet in vertex 0, of weights so near
// to each other that 39 eigenvalues at a time differ by thousandths, and two restarts are
// needed to tell them apart.
func spider(t *testing.T, path string, n int) {
	t.Helper()
	const legs = 40
	entries := map[[2]int]float64{}
	for v := 1; v < n; v++ {
		inner, w := max(0, v-legs), 1+1e-3*float64((v-1)%legs)
		entries[[2]int{v, inner}], entries[[2]int{inner, v}] = w, w
	}
	sparseFile(t, path, n, n, entries)
}

const checkpointName = checkpoint.Snapshot

const snapshotPath = "ck/" + checkpointName

// leftovers returns the temporary files in a folder.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(dir + "/.*")
	must(t, err)
	return names
}

// killed runs bigfit eigs until it writes a checkpoint for the writes-th time,
// or from the start if that is 0, waits a while and kills it. It reports whether
// the run had ended before.
func killed(t *testing.T, writes int, wait time.Duration, args ...string) (ended bool) {
	t.Helper()
	cmd := command(t, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	must(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for writing := false; writes > 0; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("bigfit %v: %v\n%s", args, err, stderr.String())
			}
			return true
		case <-time.After(50 * time.Microsecond):
		}
		was := writing
		if writing = len(leftovers(t, "ck")) > 0; writing && !was {
			writes--
		}
	}
	time.Sleep(wait)
	_ = cmd.Process.Kill()
	return <-done == nil
}

// A run that is killed again and again ends with the bits of one that is not.
func TestKill(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a kill is something else on Windows")
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	spider(t, "path.npz", 2000)
	line := strings.Fields("eigs path.npz -n 8 --tolerance 1e-10 -q -o")
	if o := finish(t, command(t, append(line, "want.npz")...)); o.code != 0 {
		t.Fatal(o)
	}
	line = append(line, "got.npz", "--checkpoint", "ck", "--resume")
	rng := rand.New(rand.NewPCG(7, 1))
	during, kills := 0, 0
	for ; kills < 8; kills++ {
		// Every other time while the checkpoint is written.
		wait := time.Duration(kills%2) * time.Duration(rng.IntN(20_000)) * time.Microsecond
		if killed(t, min(kills, 1+rng.IntN(5)), wait, line...) {
			break
		}
		during += len(leftovers(t, "ck"))
		if exists("got.npz") {
			t.Fatal("a result before the end")
		}
	}
	t.Logf("killed %d times, %d times while a checkpoint was written", kills, during)
	if kills < 3 {
		t.Error("the test is too easy")
	}
	if !exists("got.npz") {
		if !exists(snapshotPath) {
			t.Fatal("no checkpoint")
		}
		if o := finish(t, command(t, line...)); o.code != 0 {
			t.Fatal(o)
		}
	}
	if !bytes.Equal(readFile(t, "got.npz"), readFile(t, "want.npz")) {
		t.Error("the run that was killed ends with other bits")
	}
	if got := listing(t, "ck"); got != "ck\nck/"+atomicfile.MarkFile {
		t.Errorf("left in the folder of the checkpoint:\n%s", got)
	}
}

// stiffLine asks for pairs of a spider of stiffCount points.
const (
	stiffLine      = "eigs path.npz -n 20 --tolerance 1e-10"
	stiffCount     = 1601
	stiffTolerance = 1e-10
)

// unfinished goes to a new directory with a graph path.npz, the pairs want.npz
// of it and a checkpoint in ck from the midst of the same run. It returns the
// command line that goes on, without the output.
func unfinished(t *testing.T) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	spider(t, "path.npz", stiffCount)
	succeed(t, strings.Fields(stiffLine+" -q -o want.npz")...)
	o := bigfit(t, strings.Fields(stiffLine+" -q -o part.npz --checkpoint ck --restarts 1")...)
	if o.code != 3 || !exists(snapshotPath) {
		t.Fatalf("%+v", o)
	}
	return strings.Fields(stiffLine + " -q --checkpoint ck --resume")
}

// A checkpoint that is damaged or of another run is refused with its name and
// what to do, and stays as it is.
func TestBadCheckpoint(t *testing.T) {
	line := append(unfinished(t), "-o", "out.npz")
	spider(t, "other.npz", stiffCount+1)
	good := readFile(t, snapshotPath)
	refused := func(what string, args ...string) {
		t.Helper()
		before := readFile(t, snapshotPath)
		t.Log(what)
		fail(t, 2, []string{snapshotPath, "without --resume the run begins anew"}, args...)
		if !bytes.Equal(readFile(t, snapshotPath), before) {
			t.Errorf("%s: the checkpoint was changed", what)
		}
	}
	rng := rand.New(rand.NewPCG(7, 2))
	for range 20 {
		// In the data of the basis, which comes first and takes most of the file.
		bad := bytes.Clone(good)
		at := 200 + rng.IntN(len(bad)/2)
		bad[at] ^= 1 << rng.IntN(8)
		writeFile(t, snapshotPath, bad)
		refused(fmt.Sprintf("byte %d", at), line...)
	}
	for _, size := range []int{0, 1, 30, len(good) / 2, len(good) - 1} {
		writeFile(t, snapshotPath, good[:size])
		refused(fmt.Sprintf("%d bytes", size), line...)
	}
	writeFile(t, snapshotPath, bytes.Repeat([]byte{0}, len(good)))
	refused("zeros", line...)
	writeFile(t, snapshotPath, readFile(t, "want.npz"))
	refused("eigenpairs", line...)
	writeFile(t, snapshotPath, good)
	again := func(old, new string) {
		t.Helper()
		a, err := npy.OpenArchive(snapshotPath, 0)
		must(t, err)
		var entries []archive.Array
		for _, name := range a.Names() {
			x, err := a.Read(name)
			must(t, err)
			e := archive.Array{Name: name, Shape: x.Shape, Data: x.Data}
			if name == "manifest" {
				text := string(x.Data.([]uint8))
				if !strings.Contains(text, old) {
					t.Fatalf("no %s in %s", old, text)
				}
				e.Shape, e.Data = nil, []uint8(strings.Replace(text, old, new, 1))
			}
			entries = append(entries, e)
		}
		a.Close()
		must(t, npy.WriteArchive(snapshotPath, entries))
		refused(new, line...)
		writeFile(t, snapshotPath, good)
	}
	again(`"version":1`, `"version":2`)
	again(`"size":`, `"size":9`)
	again(`"block":`, `"block":1`)
	again(`"sigma":`, `"sigma":-`)
	again(fmt.Sprintf(`"n":%d`, stiffCount), fmt.Sprintf(`"n":%d`, stiffCount-1))
	for _, setting := range []string{"-n 21", "--tolerance 1e-9", "--seed 1", "--largest", "--power 2", "--laplacian normalized"} {
		refused(setting, append(line, strings.Fields(setting)...)...)
	}
	other := append([]string{}, line...)
	other[1] = "other.npz"
	refused("another graph", other...)
	succeed(t, line...)
	if !bytes.Equal(readFile(t, "out.npz"), readFile(t, "want.npz")) {
		t.Error("the checkpoint that was refused with other settings gives other bits with its own")
	}
}

// A full disk leaves the checkpoint before it, and the run can be finished from
// it, wherever it was the result that did not fit or the next checkpoint.
func TestEigsDiskFull(t *testing.T) {
	line := unfinished(t)
	want, snapshot := readFile(t, "want.npz"), readFile(t, snapshotPath)
	resumed := func() {
		t.Helper()
		succeed(t, append(line, "-o", "out.npz")...)
		if !bytes.Equal(readFile(t, "out.npz"), want) {
			t.Error("resumed after a full disk, the run ends with other bits")
		}
		must(t, os.Remove("out.npz"))
	}
	t.Run("checkpoint", func(t *testing.T) {
		disk := smallDisk(t, len(snapshot)*3/2)
		args := append(append([]string{}, line...), "-o", "out.npz", "--checkpoint", disk)
		o := bigfit(t, args...)
		o.check(t, 1, []string{disk + "/" + checkpointName, "no space left", "the checkpoint before it is unharmed", "--resume"}, args)
		if got := listing(t, disk); got != disk+"\n"+disk+"/"+atomicfile.MarkFile+"\n"+disk+"/"+checkpointName || exists("out.npz") {
			t.Errorf("left:\n%s", got)
		}
		writeFile(t, snapshotPath, readFile(t, disk+"/"+checkpointName))
		resumed()
		// Not even the first one fits.
		disk = smallDisk(t, len(snapshot)/2)
		args[len(args)-1] = disk
		o = bigfit(t, args...)
		o.check(t, 1, []string{disk + "/" + checkpointName, "no space left"}, args)
		if got := listing(t, disk); got != disk+"\n"+disk+"/"+atomicfile.MarkFile || strings.Contains(o.stderr, "unharmed") {
			t.Errorf("left:\n%s", got)
		}
	})
	t.Run("result", func(t *testing.T) {
		writeFile(t, snapshotPath, snapshot)
		out := smallDisk(t, 20<<10) + "/out.npz"
		args := append(append([]string{}, line...), "-o", out)
		bigfit(t, args...).check(t, 1, []string{out, "no space left"}, args)
		if got := listing(t, filepath.Dir(out)); got != filepath.Dir(out) || !exists(snapshotPath) {
			t.Errorf("left:\n%s", got)
		}
		resumed()
	})
}

// With too few restarts the file holds the pairs that are within the tolerance
// and no others; both the checkpoint and the file are something to go on from.
func TestTooFewRestarts(t *testing.T) {
	t.Chdir(t.TempDir())
	spider(t, "path.npz", stiffCount)
	line := strings.Fields(stiffLine + " --json -q")
	decode := func(text string) (s eigsSummary) {
		t.Helper()
		must(t, json.Unmarshal([]byte(text), &s))
		return s
	}
	full := decode(succeed(t, append(line, "-o", "full.npz")...))
	// The most restarts that are too few.
	var part eigsSummary
	var stderr string
	for r := 1; ; r++ {
		o := bigfit(t, append(line, "-o", "next.npz", "--checkpoint", "next", "--restarts", strconv.Itoa(r))...)
		if o.code == 0 && r > 1 {
			break
		}
		if o.code != 3 {
			t.Fatalf("%d restarts: %+v", r, o)
		}
		part, stderr = decode(o.out), o.stderr
		must(t, os.RemoveAll("ck"))
		must(t, os.Rename("next", "ck"))
		must(t, os.Rename("next.npz", "part.npz"))
	}
	t.Log(stderr)
	if part.Asked != full.Pairs || part.Pairs < 1 || part.Pairs >= full.Pairs {
		t.Fatalf("%+v of %+v", part, full)
	}
	for _, w := range []string{"not converged", fmt.Sprintf("next.npz holds the first %d of 20 pairs", part.Pairs), "--resume with more --restarts goes on from next"} {
		if !strings.Contains(stderr, w) {
			t.Errorf("stderr lacks %q:\n%s", w, stderr)
		}
	}
	f, err := lanczos.Load("part.npz", 0)
	must(t, err)
	whole, err := lanczos.Load("full.npz", 0)
	must(t, err)
	if rows, columns := f.Result.Vectors.Dims(); rows != stiffCount || columns != part.Pairs || len(f.Result.Residuals) != part.Pairs {
		t.Errorf("%d×%d vectors and %d residuals", rows, columns, len(f.Result.Residuals))
	}
	for j, v := range f.Result.Values {
		if want := whole.Result.Values[j]; !(math.Abs(v-want) <= stiffTolerance*part.Norm) || !(f.Result.Residuals[j] <= stiffTolerance*part.Norm) {
			t.Errorf("pair %d: value %v, want %v, residual %.2e", j, v, want, f.Result.Residuals[j])
		}
	}
	if part.Next == nil || *part.Next < part.Last {
		t.Errorf("the next eigenvalue of %+v", part)
	}
	succeed(t, strings.Fields("eigs --verify part.npz --graph path.npz")...)
	rest := decode(succeed(t, append(line, "-o", "rest.npz", "--start", "part.npz")...))
	if rest.Pairs != full.Pairs || !(math.Abs(rest.Last-full.Last) <= stiffTolerance*full.Norm) {
		t.Errorf("from the converged pairs: %+v, want %+v", rest, full)
	}
	succeed(t, append(line, strings.Fields("-o more.npz --checkpoint ck --resume --restarts 60")...)...)
	if !bytes.Equal(readFile(t, "more.npz"), readFile(t, "full.npz")) {
		t.Error("with more restarts the run goes on to other bits")
	}
	if exists(snapshotPath) {
		t.Error("the checkpoint of a finished run is still there")
	}
	fail(t, 3, []string{"not converged", "no pair is within the tolerance, so none.npz is not written"},
		"eigs", "path.npz", "-n", "3", "--largest", "--tolerance", "1e-18", "--restarts", "2", "-o", "none.npz")
}

// Only the first pairs that are within the tolerance are kept, and none beyond
// an eigenvalue that is known to be missing.
func TestKeepConverged(t *testing.T) {
	for _, c := range []struct {
		values, residuals []float64
		next              float64
		largest           bool
		kept              int
		wantNext          float64
	}{
		{[]float64{0, 1, 2, 3}, []float64{0, 1e-9, 2e-8, 0}, math.Inf(1), false, 2, 2},
		{[]float64{0, 1, 2, 3}, []float64{0, 0, 0, 0}, 1.5, false, 2, 1.5},
		{[]float64{0, 1, 2, 3}, []float64{0, 0, 0, 1}, 1.5, false, 2, 1.5},
		{[]float64{0, 1, 2, 3}, []float64{0, 0, 0, 0}, 3, false, 4, 3},
		{[]float64{0, 1, 2, 3}, []float64{1, 0, 0, 0}, math.Inf(1), false, 0, math.Inf(1)},
		{[]float64{9, 8, 7}, []float64{0, 0, 1}, math.Inf(-1), true, 2, 7},
		{[]float64{9, 8, 7}, []float64{0, 0, 0}, 8.5, true, 1, 8.5},
		{[]float64{0, 1}, []float64{math.NaN(), 0}, math.Inf(1), false, 0, math.Inf(1)},
	} {
		k := len(c.values)
		x := mat.NewDense(2, k, nil)
		for j := range k {
			x.Set(0, j, float64(j))
			x.Set(1, j, float64(10+j))
		}
		r := &lanczos.Result{Values: c.values, Residuals: c.residuals, Vectors: x, Norm: 1, Certificate: lanczos.Certificate{Next: c.next}}
		ok := r.KeepConverged(1e-8, c.largest)
		if ok != (c.kept > 0) || r.Certificate.Next != c.wantNext {
			t.Errorf("%+v: %t, next %v", c, ok, r.Certificate.Next)
		}
		if !ok {
			continue
		}
		if _, columns := r.Vectors.Dims(); columns != c.kept || len(r.Values) != c.kept || len(r.Residuals) != c.kept {
			t.Fatalf("%+v: %d values, %d residuals and %d vectors", c, len(r.Values), len(r.Residuals), columns)
		}
		for j := range c.kept {
			if r.Vectors.At(0, j) != float64(j) || r.Vectors.At(1, j) != float64(10+j) {
				t.Errorf("%+v: vectors %v", c, mat.Formatted(r.Vectors))
			}
		}
	}
}
