package data

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// idxTypes maps the type byte of an idx file to NumPy's name of the type. All
// numbers are stored most significant byte first.
var idxTypes = map[byte]string{
	0x08: "|u1", 0x09: "|i1", 0x0b: ">i2", 0x0c: ">i4", 0x0d: ">f4", 0x0e: ">f8",
}

// readIDXHeader reads the header of an idx file: two zero bytes, the type, the number of
// dimensions, and their extents as 32-bit integers. Unless the file is compressed, the size that
// the header claims is compared with the size of the file.
func readIDXHeader(s *source) (*npy.Header, error) {
	var lead [4]byte
	if _, err := io.ReadFull(s.R, lead[:]); err != nil {
		return nil, s.idxError(err, 4)
	}
	dims := int(lead[3])
	if dims == 0 {
		return nil, s.fault("the idx header claims no dimensions, want at least one")
	}
	raw := make([]byte, 4*dims)
	if _, err := io.ReadFull(s.R, raw); err != nil {
		return nil, s.idxError(err, 4+len(raw))
	}

	// Extents are big endian, as all numbers of the format.
	shape := make([]int, dims)
	for i := range shape {
		shape[i] = int(binary.BigEndian.Uint32(raw[4*i:]))
	}
	h, err := npy.NewHeader(idxTypes[lead[2]], shape, false)
	if err != nil {
		return nil, s.fault("%w", err)
	}
	if have := s.Size - int64(4+len(raw)); s.Packing == "" && have != h.Bytes() {
		return nil, s.fault("the idx header claims %s, %d bytes, but %d bytes follow it: the file is "+
			"truncated or damaged; get it again", h, h.Bytes(), have)
	}
	return h, nil
}

// readIDX reads the array of an idx file, plain or compressed.
func readIDX(s *source, r arrayRequest) (*npy.Array, string, error) {
	header := func() (*npy.Header, error) { return readIDXHeader(s) }
	h, hint, err := s.packedHeader(header, &r)
	if err != nil {
		return nil, "", err
	}
	a, err := npy.Decode(s.R, h, hint)
	if err != nil {
		return nil, "", s.fault("%w; get the file again", err)
	}

	switch _, err := s.R.ReadByte(); {
	case err == nil:
		return nil, "", s.fault("bytes follow the %s that the idx header claims; the file is "+
			"damaged: get it again", h)
	case !errors.Is(err, io.EOF):
		return nil, "", s.ReadError(err)
	}

	return a, s.path, nil
}

func (s *source) idxError(err error, want int) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return s.fault("the idx header ends before its %d bytes: the file is truncated", want)
	}
	return s.ReadError(err)
}
