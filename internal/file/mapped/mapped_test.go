//go:build linux || darwin

package mapped

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/num/par"
)

// open maps a file of so many bytes of 7.
func open(t *testing.T, size int) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, bytes.Repeat([]byte{7}, size), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if content, err = Open(f, path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the folder goes away
		mutex.Lock()
		defer mutex.Unlock()
		all = slices.DeleteFunc(all, func(m *mapping) bool { return m.path == path })
	})
	return path, content
}

func TestMapped(t *testing.T) {
	const size = 1 << 20
	path, b := open(t, size)
	count := func() int {
		n := 0
		for _, v := range b {
			n += int(v)
		}
		return n
	}
	if len(b) != size || count() != 7*size {
		t.Fatalf("%d bytes, sum %d", len(b), count())
	}
	if !Holds(b[9:10]) || !Holds(b[size-1:]) || Holds(make([]byte, 9)) || Holds(nil) {
		t.Error("Holds is wrong about what is mapped")
	}
	Drop(b[100 : size-100])
	Drop(make([]byte, 1<<16)) // stays as it is
	if count() != 7*size {
		t.Error("bytes changed when their pages were given back")
	}
	if err := Check(); err != nil || Size() < size {
		t.Errorf("%v, %d bytes are mapped", err, Size())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var changed *ChangedError
	if err := Check(); !errors.As(err, &changed) || changed.Path != path {
		t.Errorf("the file is not there: %v", err)
	}
	if count() != 7*size {
		t.Error("a removed file is still mapped")
	}
}

// The access to a file that was cut off is a panic that can be recovered, also from
// another goroutine, and names the file.
func TestFault(t *testing.T) {
	for _, workers := range []int{1, 64} {
		path, b := open(t, 1<<20)
		if err := os.Truncate(path, 5000); err != nil {
			t.Fatal(err)
		}
		recovered := func() (r any) {
			defer func() { r = recover() }()
			sums := make([]int, workers)
			par.For(workers, 1, func(lo, _ int) {
				for _, v := range b[lo*len(b)/workers : (lo+1)*len(b)/workers] {
					sums[lo] += int(v)
				}
			})
			return nil
		}()
		var changed *ChangedError
		if err := Fault(recovered); !errors.As(err, &changed) || changed.Path != path || !strings.Contains(err.Error(), "had 1048576 bytes and has 5000") {
			t.Errorf("%d workers: %v is explained as %v", workers, recovered, err)
		}
		copied := func() (r any) { // by a function in assembly
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() { r = recover() }()
			copy(make([]byte, len(b)), b)
			return nil
		}()
		if err := Fault(copied); err == nil {
			t.Errorf("%v is not explained", copied)
		}
	}
	for _, other := range []any{nil, "text", errors.New("x"), &par.Panic{Value: 3}} {
		if err := Fault(other); err != nil {
			t.Errorf("%v is explained as %v", other, err)
		}
	}
	func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if err := Fault(recover()); err != nil {
				t.Errorf("no mapped file, but %v", err)
			}
		}()
		var p *int
		*p = 1
	}()
}

func TestForget(t *testing.T) {
	path, _ := open(t, 100)
	Forget(path)
	if err := os.WriteFile(path, []byte("new"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Check(); err != nil {
		t.Error(err)
	}
}

func TestSmallFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Open(f, path); !errors.Is(err, ErrUnsupported) {
		t.Errorf("an empty file: %v", err)
	}
}

// A closed mapping is on no list, and what lies beside it stays.
func TestClose(t *testing.T) {
	_, one := open(t, 1<<20)
	_, other := open(t, 1<<20)
	Close(one[1<<10:])
	if Holds(other) == false || other[5] != 7 {
		t.Error("the other mapping has gone")
	}
	before := Size()
	Close(make([]byte, 10))
	Close(nil)
	if Size() != before {
		t.Errorf("%d bytes are mapped, and %d were", Size(), before)
	}
	Close(other)
	if Size() != before-1<<20 {
		t.Errorf("%d bytes are mapped of %d", Size(), before)
	}
}
