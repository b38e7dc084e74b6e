package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/lanczos"
)

// stiffLine asks for pairs of a spider of stiffCount points.
const (
	stiffLine      = "eigs path.npz -n 20 --tolerance 1e-10"
	stiffCount     = 3201
	stiffTolerance = 1e-10
)

const snapshotPath = "ck/" + checkpoint.Snapshot

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
