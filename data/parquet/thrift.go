package parquet

import (
	"encoding/binary"
	"errors"
)

// mostDepth bounds how deep structures of a footer are nested.
const mostDepth = 64

var errThrift = errors.New("its structure is not that of Thrift's compact protocol")

// walkThrift goes through a structure in Thrift's compact protocol. It returns its length
// and the number of structures in lists, and an error if a list or a text is longer than
// the bytes that are there, or if structures are nested too deeply.
func walkThrift(b []byte) (n int, structs int64, err error) {
	w := thriftWalk{b: b}
	w.structure(0)
	if w.bad {
		return 0, 0, errThrift
	}
	return w.at, w.structs, nil
}

type thriftWalk struct {
	b       []byte
	at      int
	structs int64
	bad     bool
}

func (w *thriftWalk) byte() byte {
	if w.at >= len(w.b) {
		w.bad = true
		return 0
	}
	w.at++
	return w.b[w.at-1]
}

func (w *thriftWalk) varint() uint64 {
	v, n := binary.Uvarint(w.b[w.at:])
	if n <= 0 {
		w.bad = true
		return 0
	}
	w.at += n
	return v
}

func (w *thriftWalk) skip(n uint64) {
	if n > uint64(len(w.b)-w.at) {
		w.bad = true
		return
	}
	w.at += int(n)
}

func (w *thriftWalk) structure(depth int) {
	w.bad = w.bad || depth > mostDepth
	for !w.bad {
		h := w.byte()
		if h == 0 {
			return
		}
		if h>>4 == 0 {
			w.varint()
		}
		if kind := h & 15; kind > 2 { // the kind of a boolean field is its value
			w.value(kind, depth)
		}
	}
}

func (w *thriftWalk) value(kind byte, depth int) {
	switch kind {
	case 1, 2, 3:
		w.byte()
	case 4, 5, 6:
		w.varint()
	case 7:
		w.skip(8)
	case 8:
		w.skip(w.varint())
	case 9, 10:
		h := w.byte()
		n := uint64(h >> 4)
		if n == 15 {
			n = w.varint()
		}
		w.elements(n, depth, h&15)
	case 11:
		if n := w.varint(); n > 0 {
			h := w.byte()
			w.elements(n, depth, h>>4, h&15)
		}
	case 12:
		w.structure(depth + 1)
	default:
		w.bad = true
	}
}

// elements goes through n elements of a list, or n pairs of a map.
func (w *thriftWalk) elements(n uint64, depth int, kinds ...byte) {
	if w.bad = w.bad || n > uint64(len(w.b)-w.at) || depth > mostDepth; w.bad {
		return
	}
	w.structs += int64(n)
	for range n {
		for _, k := range kinds {
			if w.value(k, depth+1); w.bad {
				return
			}
		}
	}
}
