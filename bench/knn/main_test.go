package main

import (
	"path/filepath"
	"testing"

	"github.com/bigfit/bigfit/internal/npy"
)

// TestDisagreements: the points 0, 1, 2, 4 of a line, one neighbour each. Ties,
// mistakes of the peer and mistakes of ours are told apart.
func TestDisagreements(t *testing.T) {
	dir := t.TempDir()
	x, ours, theirs := filepath.Join(dir, "x.npy"), filepath.Join(dir, "ours.npz"), filepath.Join(dir, "theirs.npz")
	if err := npy.WriteFile(x, []int{4, 1}, []float64{0, 1, 2, 4}); err != nil {
		t.Fatal(err)
	}
	write := func(path string, k int, index []int64, dist []float64) {
		t.Helper()
		entries := []npy.Entry{{Name: "indices", Shape: []int{4, k}, Data: index}}
		if dist != nil {
			entries = append(entries, npy.Entry{Name: "distances", Shape: []int{4, k}, Data: dist})
		}
		if err := npy.WriteArchive(path, entries); err != nil {
			t.Fatal(err)
		}
	}
	// Point 1 has a tie, 0 or 2. Ours errs at point 3, whose nearest is 2; the
	// peer errs at point 0.
	write(ours, 1, []int64{1, 0, 1, 1}, []float64{1, 1, 1, 3})
	write(theirs, 2, []int64{0, 2, 1, 2, 2, 1, 3, 2}, nil)
	got, err := disagreements(x, &work{k: 1}, ours, theirs)
	if err != nil {
		t.Fatal(err)
	}
	if got["of"] != 4 || got["ties"] != 1 || got["peer_farther"] != 1 || got["peer_nearer"] != 1 {
		t.Errorf("%v, want one tie, one farther and one nearer of 4", got)
	}
}
