package npy

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kshedden/gonpy"
)

// samples returns n numbers, among them zero, a fraction and the extremes of floats.
func samples[T float32 | float64](n int, largest, smallest T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i)/4 - 1
	}
	out[0], out[n-1] = largest, smallest
	return out
}

// readByGonpy writes data with this package and compares what gonpy reads.
func readByGonpy[T number](t *testing.T, shape []int, data []T, get func(*gonpy.NpyReader) ([]T, error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteFile(path, shape, data); err != nil {
		t.Fatal(err)
	}
	g, err := gonpy.NewFileReader(path)
	if err != nil {
		t.Fatal(err)
	}

	if !slices.Equal(g.Shape, shape) || g.ColumnMajor || g.Endian != binary.LittleEndian || g.Version != 1 {
		t.Errorf("gonpy reads the header %+v of shape %v", *g, shape)
	}
	got, err := get(g)
	if err != nil || !slices.Equal(bytesOf(got), bytesOf(data)) {
		t.Errorf("gonpy reads %v (%v), want %v", got, err, data)
	}
}

// Programs with gonpy read the files of this package.
func TestGonpyReads(t *testing.T) {
	ints := sequence[int64](12)
	ints[0], ints[11] = math.MaxInt64, math.MinInt64
	for name, shape := range map[string][]int{"1-D": {12}, "2-D": {4, 3}, "one column": {12, 1}} {
		t.Run("float64 "+name, func(t *testing.T) {
			data := samples(12, math.MaxFloat64, math.SmallestNonzeroFloat64)
			readByGonpy(t, shape, data, (*gonpy.NpyReader).GetFloat64)
		})
		t.Run("float32 "+name, func(t *testing.T) {
			data := samples[float32](12, math.MaxFloat32, math.SmallestNonzeroFloat32)
			readByGonpy(t, shape, data, (*gonpy.NpyReader).GetFloat32)
		})
		t.Run("int64 "+name, func(t *testing.T) {
			readByGonpy(t, shape, ints, (*gonpy.NpyReader).GetInt64)
		})
		t.Run("int32 "+name, func(t *testing.T) {
			readByGonpy(t, shape, sequence[int32](12), (*gonpy.NpyReader).GetInt32)
		})
		t.Run("uint8 "+name, func(t *testing.T) {
			readByGonpy(t, shape, sequence[uint8](12), (*gonpy.NpyReader).GetUint8)
		})
	}
}

// This package reads the files of programs with gonpy, in both orders of bytes and of axes.
func TestReadsGonpy(t *testing.T) {
	want := samples(12, math.MaxFloat64, math.SmallestNonzeroFloat64)
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, columns := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, columns first %v", order, columns), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x.npy")
				w, err := gonpy.NewFileWriter(path)
				if err != nil {
					t.Fatal(err)
				}
				w.Endian = order
				w.Shape = []int{4, 3}
				w.ColumnMajor = columns
				data := want
				if columns {
					data = make([]float64, 12)
					for k, v := range want {
						data[k%3*4+k/3] = v
					}
				}
				if err := w.WriteFloat64(data); err != nil {
					t.Fatal(err)
				}

				x, err := ReadFile(path, 0)
				if err != nil {
					t.Fatal(err)
				}
				if got := x.Data.([]float64); !slices.Equal(x.Shape, []int{4, 3}) || !slices.Equal(got, want) {
					t.Errorf("%v of shape %v, want %v", got, x.Shape, want)
				}
			})
		}
	}
}
