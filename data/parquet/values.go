package parquet

import (
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// encodings decode pages of values, dictionaries with plain ones. Each refuses types that it is not for.
var encodings = map[format.Encoding]encoding.Encoding{
	format.Plain:                &plain.Encoding{},
	format.RLE:                  &rle.Encoding{BitWidth: 1}, // of booleans
	format.DeltaBinaryPacked:    &delta.BinaryPackedEncoding{},
	format.DeltaLengthByteArray: &delta.LengthByteArrayEncoding{},
	format.DeltaByteArray:       &delta.ByteArrayEncoding{},
	format.ByteStreamSplit:      &bytestreamsplit.Encoding{},
}

// values are the values of a page or of a dictionary. The type of the leaf decides which slice has them.
type values struct {
	bits    []byte // booleans, eight a byte, the lowest bit first
	int32s  []int32
	int64s  []int64
	floats  []float32
	doubles []float64
	bytes   []byte   // texts, or values of the fixed length of the leaf, one behind the other
	offsets []uint32 // of texts: where each begins, and where the last ends
}

// decode takes the place of the values that were there before.
func (v *values) decode(leaf *node, enc format.Encoding, body []byte) (err error) {
	e := encodings[enc]
	switch leaf.kind() {
	case format.Boolean:
		v.bits, err = e.DecodeBoolean(v.bits, body)
	case format.Int32:
		v.int32s, err = e.DecodeInt32(v.int32s, body)
	case format.Int64:
		v.int64s, err = e.DecodeInt64(v.int64s, body)
	case format.Float:
		v.floats, err = e.DecodeFloat(v.floats, body)
	case format.Double:
		v.doubles, err = e.DecodeDouble(v.doubles, body)
	case format.ByteArray:
		v.bytes, v.offsets, err = e.DecodeByteArray(v.bytes, body, v.offsets)
	case format.FixedLenByteArray:
		v.bytes, err = e.DecodeFixedLenByteArray(v.bytes, body, int(leaf.TypeLength.V))
	default:
		err = encoding.ErrNotSupported
	}
	return err
}

// len returns the number of values, of booleans a multiple of eight.
func (v *values) len(leaf *node) int {
	switch leaf.kind() {
	case format.Boolean:
		return 8 * len(v.bits)
	case format.Int32:
		return len(v.int32s)
	case format.Int64:
		return len(v.int64s)
	case format.Float:
		return len(v.floats)
	case format.Double:
		return len(v.doubles)
	case format.ByteArray:
		return max(0, len(v.offsets)-1)
	}
	return len(v.bytes) / int(max(1, leaf.TypeLength.V))
}
