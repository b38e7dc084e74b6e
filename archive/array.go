package archive

// Array is a named array of an archive.
type Array struct {
	// Name is the array's name, without ".npy".
	Name string
	// Shape holds the extents; nil means one dimension or, for a string, a
	// scalar.
	Shape []int
	// Data is a slice of one of the numeric types, of bool or of strings, stored
	// as NumPy's unicode strings as wide as the longest of them; a [Repeat]; a
	// [Single]; a [Raw]; or a string, stored as NumPy's bytes.
	Data any
	// Compress deflates the array; numpy.load reads both forms.
	Compress bool
}

// Repeat stands for an array of float64 that holds Value Count times, without the memory.
type Repeat struct {
	Value float64
	Count int
}

// Single stands for an array of float32 that holds these numbers, rounded, without the memory.
type Single []float64

// Raw stands for an array of numbers in parts that lie one after the other: the bytes of its
// elements as this machine holds them.
type Raw struct {
	DType string // float16, float32, float64, uint8 or bool
	Parts [][]byte
}
