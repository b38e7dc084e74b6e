package npy

import (
	"fmt"
	"math"
	"reflect"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Array is a decoded array: C order, this machine's byte order.
type Array struct {
	// Shape holds the extents; it is empty for a scalar.
	Shape []int
	// Data is one of []Half, []float32, []float64, []int8, []int16, []int32, []int64,
	// []uint8, []uint16, []uint32, []uint64, []bool or, for NumPy's bytes and
	// unicode strings, []string. Its length is the product of Shape.
	Data any
}

// Half holds the bits of a float16, IEEE binary16.
type Half uint16

// Len returns the number of elements.
func (a *Array) Len() int { return reflect.ValueOf(a.Data).Len() }

// DType returns NumPy's name of the element type, "float32" for example;
// "str" for strings.
func (a *Array) DType() string {
	if r, ok := a.Data.(archive.Raw); ok { // on its way to a file
		return r.DType
	}

	switch t := reflect.TypeOf(a.Data).Elem(); t {
	case reflect.TypeFor[Half]():
		return "float16"
	case reflect.TypeFor[string]():
		return "str"
	default:
		return t.Kind().String()
	}
}

// String returns the type and shape, as in "float32 (60000, 784)".
func (a *Array) String() string { return a.DType() + " " + shapeString(a.Shape) }

// Float64s returns the elements as float64, false as 0 and true as 1. It
// aliases Data when that is []float64 already. An integer beyond ±2⁵³ that
// float64 cannot hold exactly is an error that names its place; so are
// strings.
func (a *Array) Float64s() ([]float64, error) {
	switch d := a.Data.(type) {
	case []float64:
		return d, nil
	case []Half:
		out := make([]float64, len(d))
		for i, v := range d {
			out[i] = float64(simd.FromHalf(uint16(v)))
		}
		return out, nil
	case []float32:
		return toFloat(d), nil
	case []int8:
		return toFloat(d), nil
	case []int16:
		return toFloat(d), nil
	case []int32:
		return toFloat(d), nil
	case []uint8:
		return toFloat(d), nil
	case []uint16:
		return toFloat(d), nil
	case []uint32:
		return toFloat(d), nil
	// Integers beyond 2⁵³ are converted and back, to see whether they are exact.
	case []int64:
		out := toFloat(d)
		for i, v := range d {
			if f := out[i]; f >= 1<<63 || int64(f) != v {
				return nil, fmt.Errorf("element %s is %d, which float64 cannot hold exactly; scale "+
					"the values below 2⁵³", a.place(i), v)
			}
		}
		return out, nil
	case []uint64:
		out := toFloat(d)
		for i, v := range d {
			if f := out[i]; f >= 1<<64 || uint64(f) != v {
				return nil, fmt.Errorf("element %s is %d, which float64 cannot hold exactly; scale "+
					"the values below 2⁵³", a.place(i), v)
			}
		}
		return out, nil
	case []bool:
		out := make([]float64, len(d))
		for i, v := range d {
			if v {
				out[i] = 1
			}
		}
		return out, nil
	}

	return nil, fmt.Errorf("the array is %s, want numbers", a)
}

// Int64s returns the elements as int64, false as 0 and true as 1. It aliases
// Data when that is []int64 already. A number that is not an integer, or not
// in the range of int64, is an error that names its place; so are strings.
func (a *Array) Int64s() ([]int64, error) {
	switch d := a.Data.(type) {
	case []int64:
		return d, nil
	case []int8:
		return toInt(d), nil
	case []int16:
		return toInt(d), nil
	case []int32:
		return toInt(d), nil
	case []uint8:
		return toInt(d), nil
	case []uint16:
		return toInt(d), nil
	case []uint32:
		return toInt(d), nil
	case []uint64:
		for i, v := range d {
			if v > math.MaxInt64 {
				return nil, fmt.Errorf("element %s is %d, beyond the range of int64", a.place(i), v)
			}
		}
		return toInt(d), nil
	// Numbers with a point are integers if they equal their integer part.
	case []Half, []float32, []float64:
		f, _ := a.Float64s()
		out := make([]int64, len(f))
		for i, v := range f {
			if v != math.Trunc(v) || !(v >= -1<<63 && v < 1<<63) {
				return nil, fmt.Errorf("element %s is %v, not an integer", a.place(i), v)
			}
			out[i] = int64(v)
		}
		return out, nil
	case []bool:
		out := make([]int64, len(d))
		for i, v := range d {
			if v {
				out[i] = 1
			}
		}
		return out, nil
	}

	return nil, fmt.Errorf("the array is %s, want integers", a)
}

// Text returns the only element of a string array.
func (a *Array) Text() (string, error) {
	// A scalar and an array of one string are read alike.
	if s, ok := a.Data.([]string); ok && len(s) == 1 {
		return s[0], nil
	}
	return "", fmt.Errorf("the array is %s, want one string", a)
}

func toFloat[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32](in []T) []float64 {
	out := make([]float64, len(in))
	for i, v := range in {
		out[i] = float64(v)
	}
	return out
}

func toInt[T int8 | int16 | int32 | uint8 | uint16 | uint32 | uint64](in []T) []int64 {
	out := make([]int64, len(in))
	for i, v := range in {
		out[i] = int64(v)
	}
	return out
}

// place writes the flat index i as NumPy would index the array.
func (a *Array) place(i int) string {
	if len(a.Shape) < 2 {
		return fmt.Sprint(i)
	}
	// The last index runs fastest.
	index := make([]int, len(a.Shape))
	for d := len(index) - 1; d >= 0; d-- {
		index[d] = i % a.Shape[d]
		i /= a.Shape[d]
	}
	return shapeString(index)
}
