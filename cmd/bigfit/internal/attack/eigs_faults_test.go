package attack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
)

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
	testmode.Campaign(t)
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
	stiffCount     = 3201
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
	testmode.Campaign(t)
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
	testmode.Campaign(t)
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
