package lanczos_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// TestSnapshotDamaged flips bytes around the arrays of a snapshot, one after
// the other, and some in them, and cuts it short: it is refused with its name, or,
// where a byte means nothing, comes back whole.
func TestSnapshotDamaged(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "damaged files, without goroutines")
	l, comp := newLaplacian(t, torus(30, 31).w, sparse.Combinatorial)
	dir := t.TempDir()
	path, bad, again := filepath.Join(dir, "good.npz"), filepath.Join(dir, "bad.npz"), filepath.Join(dir, "again.npz")
	enough := errors.New("enough")
	_, err := lanczos.Laplacian(context.Background(), l, comp, &lanczos.Settings{K: 3, Basis: 1, OnCheckpoint: func(s *lanczos.Snapshot) error {
		if err := s.Save(path, "torus"); err != nil {
			return err
		}
		return enough
	}})
	if err != enough {
		t.Fatalf("no snapshot was made: %v", err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, at int, content []byte) {
		t.Helper()
		if err := os.WriteFile(bad, content, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := lanczos.LoadSnapshot(bad, "torus", 0)
		if err != nil {
			if s != nil || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s %d: a snapshot beside the error, or no name in %q", what, at, err)
			}
			return
		}
		if err := s.Save(again, "torus"); err != nil {
			t.Fatal(err)
		}
		if back, err := os.ReadFile(again); err != nil || !bytes.Equal(back, good) {
			t.Errorf("%s %d: read as another snapshot (%v)", what, at, err)
		}
	}
	flip := func(at int) {
		content := slices.Clone(good)
		content[at] ^= 0x11
		refused("byte", at, content)
	}
	// The projected matrix is stored as basis×basis, behind the vectors; what
	// follows it are the random numbers, the manifest and the directory.
	tail := bytes.Index(good, []byte("random.npy"))
	if tail < 0 {
		t.Fatal("the arrays are not stored as they are")
	}
	for at := 0; at < 200; at += 3 {
		flip(at)
	}
	for at := 200; at < tail; at += len(good) / 60 {
		flip(at)
	}
	for at := tail - 50; at < len(good); at += 3 {
		flip(at)
	}
	for size := 0; size < len(good); size += len(good) / 60 {
		refused("length", size, good[:size])
	}
}
