// Package stage describes the stages of a run to whoever started it: what a stage will take
// before it begins, how far it is, and how it ended.
//
// A library function that takes long accepts an [Observer] and never prints. A search, a fit
// or a system of equations estimates its [Cost] from the sizes of its input alone, so that a
// program can refuse it before memory is taken.
package stage

// Observer is told about stages, one after the other.
type Observer interface {
	// Announce says what a stage will take before it begins; an error refuses it.
	Announce(stage string, c Cost) error
	// Note reports a choice in one line, which names parameters as package param says.
	Note(text string)
	Begin(stage string)
	// Update says how far the stage is. Several goroutines may call it at once.
	Update(done, total float64, note string)
	// End ends the stage with a line on its result.
	End(note string)
}

// Cost estimates the memory and the operations of a stage.
type Cost struct {
	// Bytes of memory at the peak, beside the points, the graph and the eigenpairs
	// that the stage is given.
	Bytes int64
	// Operations in float64 matrix products; work that runs at the speed of memory
	// counts fivefold. 0 if nothing is known.
	Operations float64
	// Remedy says what to do if it does not fit, as an order; parameters are named as
	// package param says.
	Remedy string
}

// RuntimeBytes approximates the memory of small allocations in any stage.
const RuntimeBytes = 4 << 20

// HeapBytes returns the memory that inUse bytes of live objects take: in all but small runs the command sets
// the collector to run when garbage reaches 40 % of the live objects.
func HeapBytes(inUse int64) int64 { return inUse + inUse*2/5 }

// DenseBytes returns the memory that inUse bytes of large matrices take if most of them live
// as long as the stage. The collector then leaves less garbage than [HeapBytes] allows, and
// products of small matrices take smaller buffers.
func DenseBytes(inUse int64) int64 { return inUse + inUse/6 + min(RuntimeBytes+2*inUse, 20<<20) }
