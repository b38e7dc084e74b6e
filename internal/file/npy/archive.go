package npy

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/archive"
)

// Archive is an open .npz file.
type Archive struct {
	path  string
	file  *os.File
	size  int64
	limit int64
	names []string
	files map[string]*zip.File
}

// OpenArchive opens a .npz file and reads its directory. A positive limit
// bounds the memory in bytes that one Read may take. The caller closes it.
func OpenArchive(path string, limit int64) (*Archive, error) {
	f, size, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: not a .npz archive, or truncated: %w; save it again with numpy.savez",
			path, err)
	}

	a := &Archive{path: path, file: f, size: size, limit: limit, files: map[string]*zip.File{}}
	// Only members ".npy" are arrays; a name that is there twice is ambiguous.
	for _, e := range z.File {
		name, ok := strings.CutSuffix(e.Name, ".npy")
		if !ok {
			continue
		}
		if a.files[name] != nil {
			f.Close()
			return nil, fmt.Errorf("%s: array %s is there twice; save the archive again with numpy.savez",
				path, quote(name))
		}
		a.names = append(a.names, name)
		a.files[name] = e
	}

	slices.Sort(a.names)
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

// Path returns the path that the archive was opened by.
func (a *Archive) Path() string { return a.path }

// Names returns the names of the arrays, sorted, without their ".npy".
func (a *Archive) Names() []string { return slices.Clone(a.names) }

// Has reports whether there is an array with this name.
func (a *Archive) Has(name string) bool { return a.files[name] != nil }

// Header returns type and shape of an array without decoding it.
func (a *Archive) Header(name string) (*Header, error) {
	r, h, err := a.open(name)
	if err != nil {
		return nil, err
	}
	// An entry may be found damaged only when it is closed.
	if err := r.Close(); err != nil {
		return nil, a.fault(name, err)
	}
	return h, nil
}

// Expect returns an error unless the header of an array claims the given type and extents. An empty
// type stands for any type of numbers, a negative extent for any extent. Expect reads only the
// header.
func (a *Archive) Expect(name, dtype string, shape ...int) error {
	h, err := a.Header(name)
	if err != nil {
		return err
	}

	// The extents are compared as long as they agree, up to the first that does not.
	same := len(h.Shape) == len(shape) && (dtype == h.DType || dtype == "" && h.kind != 'S' && h.kind != 'U')
	for i := 0; same && i < len(shape); i++ {
		same = shape[i] < 0 || shape[i] == h.Shape[i]
	}
	if !same {
		return a.fault(name, fmt.Errorf("it is %s and must be %s: the file is damaged or of another program",
			h, expected(dtype, shape)))
	}
	return nil
}

// expected writes what [Archive.Expect] wants.
func expected(dtype string, shape []int) string {
	if dtype == "" {
		dtype = "numbers"
	}
	var extents []string
	for _, s := range shape {
		if s < 0 {
			extents = append(extents, "any")
		} else {
			extents = append(extents, strconv.Itoa(s))
		}
	}

	// Python writes a tuple of one as (3,).
	if len(extents) == 1 {
		extents = append(extents, "")
	}
	return dtype + " (" + strings.TrimSpace(strings.Join(extents, ", ")) + ")"
}

// Read decodes an array as ReadFile does and verifies its checksum.
func (a *Archive) Read(name string) (*Array, error) {
	r, h, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := h.Within(a.limit, a.what(name)); err != nil {
		return nil, err
	}

	// Every byte of a stored array is known to be there. Memory for more than a usual ratio of a
	// deflated one is taken after its bytes were counted, so that it is taken once.
	hint := UsualRatio * int64(a.files[name].CompressedSize64)
	if h.Bytes() > max(hint, leastHint) {
		if err := a.count(name); err != nil {
			return nil, err
		}
		hint = h.Bytes()
	}
	out, err := Decode(r, h, hint)
	// The checksum of an entry is verified at its end.
	if err == nil {
		err = atEnd(r)
	}
	if err != nil {
		return nil, a.fault(name, err)
	}
	return out, nil
}

// count inflates an array and keeps nothing. It returns an error unless all bytes are there and
// their checksum is right.
func (a *Archive) count(name string) error {
	r, _, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		return a.fault(name, err)
	}
	return nil
}

// maxText bounds the bytes of a text, such as a manifest.
const maxText = 64 << 20

// ReadBytes decodes an array of uint8, such as a text, of at most 64 MiB.
func (a *Archive) ReadBytes(name string) ([]byte, error) {
	// The header is compared before memory is taken for the text.
	h, err := a.Header(name)
	if err != nil {
		return nil, err
	}
	if h.Bytes() > maxText {
		return nil, a.fault(name, fmt.Errorf("it is %s; a text of at most %d bytes is expected", h, maxText))
	}
	x, err := a.Read(name)
	if err != nil {
		return nil, err
	}

	text, ok := x.Data.([]uint8)
	if !ok {
		return nil, a.fault(name, fmt.Errorf("it has type %s, it must be uint8", x.DType()))
	}
	return text, nil
}

// Manifest reads the manifest of an archive of the given format, and its settings into
// settings unless that is nil.
func (a *Archive) Manifest(format string, settings any) (*archive.Manifest, error) {
	text, err := a.ReadBytes(archive.Name)
	if err != nil {
		return nil, err
	}
	m, err := archive.Parse(text, format, a.path)
	if err != nil || settings == nil {
		return m, err
	}
	if err := archive.Unmarshal(m.Settings, settings); err != nil {
		return nil, fmt.Errorf("%s: the manifest: %w", a.path, err)
	}
	return m, nil
}

// atEnd reads on to the end, where the checksum is verified.
func atEnd(r io.Reader) error {
	var b [1]byte
	n, err := io.ReadFull(r, b[:])
	if n > 0 {
		return errors.New("bytes follow the array; save it again")
	}
	if err != io.EOF {
		return err
	}
	return nil
}

func (a *Archive) what(name string) string {
	return fmt.Sprintf("%s: array %s", a.path, quote(name))
}

func (a *Archive) fault(name string, err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		return fmt.Errorf("%s: the archive is truncated or damaged: %w; save it again", a.what(name), err)
	}
	return fmt.Errorf("%s: %w", a.what(name), err)
}

// maxRatio is more than deflate can achieve: 258 bytes from two bits.
const maxRatio = 1040

// open starts an entry and reads its header. It checks the sizes in the directory against the size
// of the file, and the size in the header against the directory.
func (a *Archive) open(name string) (_ io.ReadCloser, _ *Header, err error) {
	e := a.files[name]
	if e == nil {
		return nil, nil, fmt.Errorf("%s: no array %s; there are %s", a.path, quote(name),
			strings.Join(a.names, ", "))
	}

	switch {
	case e.Flags&1 != 0:
		return nil, nil, a.fault(name, errors.New("encrypted archives are not read; save it again "+
			"with numpy.savez"))
	case e.Method != zip.Store && e.Method != zip.Deflate:
		return nil, nil, a.fault(name, fmt.Errorf("compression method %d is not read; save it with "+
			"numpy.savez or numpy.savez_compressed", e.Method))
	case e.CompressedSize64 > uint64(a.size),
		e.Method == zip.Store && e.UncompressedSize64 != e.CompressedSize64,
		e.Method == zip.Deflate && e.UncompressedSize64/maxRatio > e.CompressedSize64:
		return nil, nil, a.fault(name, fmt.Errorf("the directory claims %d bytes from %d packed ones "+
			"in a file of %d: it is damaged; save it again", e.UncompressedSize64,
			e.CompressedSize64, a.size))
	}

	// The directory is consistent. Now the header of the array, which must fit the entry.
	r, err := e.Open()
	if err != nil {
		return nil, nil, a.fault(name, err)
	}

	defer func() {
		if err != nil {
			r.Close()
		}
	}()

	h, at, err := parseHeader(r)
	if err == nil {
		err = checkSize(h, int64(e.UncompressedSize64)-at, "the entry")
	}
	if err != nil {
		return nil, nil, a.fault(name, err)
	}
	return r, h, nil
}
