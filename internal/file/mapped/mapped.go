// Package mapped maps files into memory to be read, and keeps a list of them, so that
// a file that changes while it is mapped is an error that names it. Where a file cannot be
// mapped, [Open] says so and its caller reads it.
//
// # Lifetime
//
// A mapping lasts as long as the process, because slices of it may be anywhere, unless who holds
// them all calls [Close]. Its pages belong to the page cache and are clean: the kernel takes them
// back where memory is short, they count neither in announcements nor in peaks, and a pass gives
// them back.
//
// # Changes
//
// A file that was cut off raises SIGBUS, which debug.SetPanicOnFault turns into a panic on
// every goroutine of package par; [Fault] looks the address up in the list of mappings.
// [Check] finds any other change by size, time and identity, before files are written.
package mapped

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"unsafe"

	"github.com/bigfit/bigfit/internal/num/par"
)

// mapping is a mapped file.
type mapping struct {
	path  string
	bytes []byte
	info  fs.FileInfo // when it was mapped
}

var (
	mutex sync.Mutex
	all   []*mapping // by address
)

// ErrUnsupported says that a file cannot be mapped and has to be read.
var ErrUnsupported = errors.New("the file cannot be mapped")

// Open returns the content of an open file, mapped to be read: a write to it kills the process.
// path names the file in errors; the file may be closed afterwards. Access to a file that was cut
// off is a panic, which [Fault] explains, on goroutines with debug.SetPanicOnFault, as
// internal/num/par sets it.
func Open(f *os.File, path string) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if size < 1 || size != int64(int(size)) {
		return nil, ErrUnsupported
	}
	bytes, err := mapFile(f, int(size))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}

	// The list stays sorted by address, so that an address finds its mapping.
	mutex.Lock()
	defer mutex.Unlock()
	m := &mapping{path, bytes, info}
	at, _ := place(m.first())
	all = slices.Insert(all, at, m)
	return bytes, nil
}

// Size returns the bytes of all mapped files.
func Size() int64 {
	mutex.Lock()
	defer mutex.Unlock()
	var sum int64
	for _, m := range all {
		sum += int64(len(m.bytes))
	}
	return sum
}

// Close ends the mapping that holds b, of which no slice may be used any more. Only then does a file that
// is removed give back its place on the disk. It does nothing to other memory.
func Close(b []byte) {
	mutex.Lock()
	defer mutex.Unlock()
	at, found := find(b)
	if !found {
		return
	}
	unmap(all[at].bytes)
	all = slices.Delete(all, at, at+1)
}

// Drop gives back the pages that lie within b if b is a part of a mapped file, when they
// are not needed soon; they stay in the page cache. It does nothing to other memory.
func Drop(b []byte) {
	if len(b) < os.Getpagesize() {
		return
	}
	if Holds(b) {
		drop(b)
	}
}

func (m *mapping) first() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.bytes))) }

// holds reports whether an address lies in the mapping.
func (m *mapping) holds(at uintptr) bool {
	return at >= m.first() && at-m.first() < uintptr(len(m.bytes))
}

// place returns the place of the first mapping that begins at an address or behind it, and
// whether one begins there.
func place(at uintptr) (int, bool) {
	return slices.BinarySearchFunc(all, at,
		func(m *mapping, at uintptr) int { return cmp.Compare(m.first(), at) })
}

// Check returns an error that names a mapped file that has changed since it was mapped: removed,
// replaced, or of another size or time of change. It asks the system once a file.
func Check() error {
	mutex.Lock()
	list := slices.Clone(all)
	mutex.Unlock()
	for _, m := range list {
		if err := m.check(); err != nil {
			return err
		}
	}
	return nil
}

// Forget takes a file off the list that [Check] looks at, because this process is about to replace
// it.
func Forget(path string) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	mutex.Lock()
	defer mutex.Unlock()
	for _, m := range all {
		if os.SameFile(info, m.info) {
			m.info = nil
		}
	}
}

// Begin begins a run: from now on [Check] looks only at files that are mapped later.
func Begin() {
	mutex.Lock()
	defer mutex.Unlock()
	for _, m := range all {
		m.info = nil
	}
}

func (m *mapping) check() error {
	if m.info == nil {
		return nil
	}
	// The path is asked, because the open file of a path that was replaced stays as it was.
	info, err := os.Stat(m.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m.changed("the file was removed")
	case err != nil:
		return m.changed(err.Error())
	case info.Size() != m.info.Size():
		return m.changed(fmt.Sprintf("the file had %d bytes and has %d", m.info.Size(), info.Size()))
	case !os.SameFile(info, m.info):
		return m.changed("the file was replaced")
	case !info.ModTime().Equal(m.info.ModTime()):
		return m.changed("the file was written to")
	}

	return nil
}

// A ChangedError says that a file changed while it was read.
type ChangedError struct{ Path, Why string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: %s while it was read; nothing of it can be trusted: run again when it is "+
		"complete", e.Path, e.Why)
}

func (m *mapping) changed(why string) error { return &ChangedError{m.path, why} }

// Fault returns the error behind a recovered panic if it was an access to a mapped file that is no
// longer there, and nil for every other panic.
func Fault(recovered any) error {
	// A panic on a worker comes wrapped, once for each level of workers.
	for {
		p, ok := recovered.(*par.Panic)
		if !ok {
			break
		}
		recovered = p.Value
	}

	fault, ok := recovered.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	mutex.Lock()
	list := slices.Clone(all)
	mutex.Unlock()
	// The address tells which file, and its state tells why.
	for _, m := range list {
		if !m.holds(fault.Addr()) {
			continue
		}
		if err := m.check(); err != nil {
			return err
		}
		return m.changed("it could not be read")
	}

	return nil
}

// Holds reports whether b is a part of a mapped file.
func Holds(b []byte) bool {
	mutex.Lock()
	defer mutex.Unlock()
	_, found := find(b)
	return found
}

// find returns the place of the mapping that holds b, and whether there is one.
func find(b []byte) (at int, found bool) {
	if len(b) == 0 {
		return 0, false
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	at, begins := place(first)
	if begins {
		return at, true
	}
	return at - 1, at > 0 && all[at-1].holds(first)
}
