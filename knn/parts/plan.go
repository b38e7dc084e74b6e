package parts

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/sparse"
)

// The stages take these operations for each point beside the distances, in operations of a
// float64 matrix product. They were measured on 10⁶ to 10⁷ points of 64 columns, and the columns of the
// exchange on 3·10⁵ and 3·10⁶ of 1024, which took 32 and 87 µs a point: wideColumn lies between.
const (
	searchOverhead   = 60e3
	exchangeOverhead = 200e3
	nearColumns      = 64
	wideColumn       = 2.5
)

// rankBytes returns the memory of the ranks of points in their parts.
func rankBytes(n int, s *Settings) int64 { return 4 * int64(n) * int64(s.Overlap) }

// setBytes returns the memory of two sets of points.
func setBytes(n int) int64 { return int64(n) }

// divideBytes returns the memory of the division: parts of all points and centres, and beside them
// the larger of the sample with a block of rows and its scores, and of the order with the copies.
func divideBytes(x data.Points, s *Settings) int64 {
	n, d := x.Dims()
	sample := min(n, max(leastSample, min(mostSample, samplePerPart*s.Parts)))
	assign := 4*int64(sample)*int64(d+2) + 4*scoreBlock*int64(s.Parts) + 4*gatherBlock*int64(d)
	// A part is the nearest of up to some half more points than the mean.
	arrange := 5*int64(n) + copyBytes(x, 3*n/(2*s.Parts))
	return 2*int64(n)*int64(s.Overlap) + 16*int64(s.Parts)*int64(d) + max(assign, arrange)
}

// searchBytes returns the memory of the search of a part of m points: their rows, and beside them
// the larger of what NN-descent keeps and of its lists with the lists to be written.
func searchBytes(x data.Points, m int, s *Settings) int64 {
	_, d := x.Dims()
	k := int64(s.Graph.K)
	width := int64(s.width())
	if method := s.methodOf(m); method != knn.NNDescent {
		return int64(m)*(12*int64(d)+4+8*width) + knn.IndexBytes(data.Slice(x, 0, m), method, s.Metric, int(width))
	}
	return int64(m) * (4*int64(d) + 4 + max(12*(k+3)+30, 4*(k+3)+8+8*width))
}

// exchangeBytes returns about the memory of a round of the exchange of a part of m points. A block
// of points has three times as many neighbours in the lists of the parts, six times with the points
// that list it, and neighbours of neighbours twice as many again.
func exchangeBytes(n, d, m, round int, s *Settings) int64 {
	k := int64(s.Graph.K)
	width := int64(s.width())
	block := int64(min(m, s.blockSize(d)))

	// The sets of a local join: first and all.
	degree := width
	first := 3 * block
	if round > 1 {
		degree = 2 * width
		first = 6 * block
	}
	all := min(int64(n), 2*first)
	first = min(int64(n), first)
	chunk := min(int64(n), 1<<chunkShift(d))

	// The lists of the part with their distances, and the lists of the block. Lists are merged before.
	bytes := setBytes(n) + 4*int64(m)*(1+k) + 8*width*block
	if s.needsLengths() {
		bytes += 8 * int64(m) * k
	}

	// Its steps follow one another: candidates are found, then measured, then the lists are
	// measured in float64.
	candidates := 2*degree*width*block + 4*(all/chunk+1)*block
	find := candidates + 4*degree*block + 4*width*first
	measure := candidates + 4*int64(d)*(block+chunk)
	exact := exactBlock * (4*int64(d)*4 + 40*width)

	// Points that list a point are sought among all points of the part.
	if round > 1 {
		bytes += 4 * int64(s.Overlap) * int64(m)
	}
	return max(bytes+max(find, measure, exact), rankBytes(n, s)+16*width*int64(m))
}

// joinBytes returns the memory of a range of rows of the graph, about 50 bytes for each edge of the
// lists, 100 with weights, and of the order of the points and its inverse.
func joinBytes(n int, s *Settings) int64 {
	each := int64(100)
	if s.Graph.Weights != knn.One || s.Graph.Symmetry == sparse.Sum {
		each = 200
	}
	return 8*int64(n) + int64(rangeRows(n))*int64(s.Graph.K)*each/2
}

// diskBytes returns about the bytes of the work folder at their most: when the lists of the parts are merged, or
// in the end, when these are gone and all rounds and both graphs are there. A graph has some 1.3 K entries a point.
func diskBytes(x data.Points, s *Settings) int64 {
	n, _ := x.Dims()
	k := int64(s.Graph.K)
	width := int64(s.width())
	merged := 8 * width
	end := 4*k*mostRounds + 2*6*k
	if s.Graph.Weights != knn.One {
		end += 48 * k
	} else if s.Graph.Symmetry == sparse.Sum {
		end += 32 * k
	}
	return int64(n) * (rowBytes(x) + 4 + 2*int64(s.Overlap) + merged + max(8*width*int64(s.Overlap), end))
}

// searchOperations estimates the operations of the search of a part of m points.
func searchOperations(m, d int, s *Settings) float64 {
	switch s.methodOf(m) {
	case knn.NNDescent:
		return float64(m) * (searchOverhead + 10*float64(partTrees)*72*float64(d))
	}
	return float64(m) * float64(m) * float64(d)
}

// exchangeOperations estimates the operations of the exchange of m points. A column beyond nearColumns takes as long
// as wideColumn others.
func exchangeOperations(m, d int, s *Settings) float64 {
	width := float64(s.width())
	columns := float64(min(d, nearColumns)) + wideColumn*float64(max(0, d-nearColumns))
	return float64(m) * (exchangeOverhead + 10*width*width*columns)
}

// A Plan says what a graph in parts will take.
type Plan struct {
	Points   int     `json:"points"`
	Columns  int     `json:"columns"`
	Parts    int     `json:"parts"`
	Overlap  int     `json:"overlap"`
	PerPart  int     `json:"points_per_part"`
	Memory   int64   `json:"memory_bytes"` // at the peak
	Divide   int64   `json:"memory_bytes_divide"`
	Job      int64   `json:"memory_bytes_per_job"` // of one part
	Merge    int64   `json:"memory_bytes_merge"`
	Disk     int64   `json:"work_bytes"` // of the work folder
	Seconds  float64 `json:"seconds"`    // on this machine, one part after the other
	PartTime float64 `json:"seconds_per_part"`
	Missing  int     `json:"missing_parts"`
}

// Plan returns what the run will take.
func (r *Run) Plan() (*Plan, error) {
	n, d := r.x.Dims()
	p := &Plan{
		Points:  n,
		Columns: d,
		Parts:   r.s.Parts,
		Overlap: r.s.Overlap,
		PerPart: n * r.s.Overlap / r.s.Parts,
		Missing: r.s.Parts,
	}

	// The largest part is about a tenth larger than the mean, and twice the mean of the points
	// may have one part as their nearest.
	size := int(math.Ceil(1.1 * float64(p.PerPart)))
	own := n / r.s.Parts
	if r.div != nil {
		missing, err := r.Missing()
		if err != nil {
			return nil, err
		}
		p.Missing = len(missing)
	}

	p.Divide = divideBytes(r.x, &r.s) + machine.ProgramBytes
	p.Job = searchBytes(r.x, min(n, size), &r.s) + machine.ProgramBytes
	p.Merge = machine.ProgramBytes + max(
		exchangeBytes(n, d, 2*own, 1, &r.s),
		exchangeBytes(n, d, 2*own, mostRounds, &r.s),
		joinBytes(n, &r.s),
	)
	p.Memory = max(p.Divide, p.Job, p.Merge)
	p.Disk = diskBytes(r.x, &r.s)

	p.PartTime = machine.Seconds(searchOperations(p.PerPart, d, &r.s))
	scores := float64(n) * 2 * (float64(r.s.Parts) + 2*truthSample) * float64(d)
	p.Seconds = p.PartTime*float64(p.Missing) +
		machine.Seconds(float64(r.s.Parts)*exchangeOperations(own, d, &r.s)+scores)
	return p, nil
}

// String describes the plan in lines.
func (p *Plan) String() string {
	return fmt.Sprintf(`plan: %d points × %d in %d parts of about %d points, each point in %d
plan: %s of memory to divide them, %s for a part, %s to merge them, %s in the work folder
plan: about %s for a part, %s in all on this machine; %d parts are to be made
`, p.Points, p.Columns, p.Parts, p.PerPart, p.Overlap,
		machine.Size(p.Divide), machine.Size(p.Job), machine.Size(p.Merge), machine.Size(p.Disk),
		choice.Duration(p.PartTime), choice.Duration(p.Seconds), p.Missing)
}
