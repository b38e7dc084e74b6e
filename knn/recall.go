package knn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/topk"
)

// A Recall is the share of true neighbours among those found, estimated on a
// random sample of the points. A point found at most as far away as the k-th
// true neighbour counts as one, so that ties are not misses.
type Recall struct {
	Share     float64 `json:"share"`
	Low, High float64 // 95 % confidence interval; Share itself if Sample is all points
	Sample    int     `json:"sample"` // points compared with an exact search
}

func (r Recall) String() string {
	return fmt.Sprintf("%.4f (%.4f to %.4f, by %d points)", r.Share, r.Low, r.High, r.Sample)
}

// A recallSample holds the distance of the k-th neighbour of some of n points.
type recallSample struct {
	n, k int
	rows []int // ascending
	kth  []float64
}

// samplePart is the number of points that a sample is compared with at a time.
const samplePart = 1 << 14

// newRecallSample searches x in parts, so that it takes little memory beside x.
func newRecallSample(ctx context.Context, x data.Points, m Metric, k, count int, seed uint64) (*recallSample, error) {
	const part = samplePart
	n, _ := x.Dims()
	if err := checkK(k, n-1); err != nil {
		return nil, err
	}
	s := &recallSample{n: n, k: k, rows: sampleRows(n, count, seed)}
	queries := data.Select(x, s.rows)
	sets := make([]*topk.Set, len(s.rows))
	for r := range sets {
		sets[r] = topk.New(k)
	}
	for lo := 0; lo < n; lo += part {
		if n > 8*part && lo%(4*part) == 0 {
			runtime.GC() // or the parts' memory would grow as large as all that lives
		}
		hi := min(lo+part, n)
		ix, err := NewBrute(data.Slice(x, lo, hi), &Settings{Metric: m})
		if err != nil {
			return nil, err
		}
		nb, err := ix.Query(ctx, queries, min(k+1, hi-lo))
		if err != nil {
			return nil, err
		}
		for r, set := range sets {
			index, dist := nb.Row(r)
			for p, j := range index {
				if lo+int(j) != s.rows[r] {
					set.Add(topk.Pair{Dist: dist[p], Index: int32(lo) + j})
				}
			}
		}
	}
	for _, set := range sets {
		s.kth = append(s.kth, set.Heap[0].Dist)
	}
	return s, nil
}

// sampleRows draws count of n numbers, all if there are no more, ascending.
func sampleRows(n, count int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 0x7265_6361_6c6c))
	in := make(map[int]bool)
	rows := make([]int, 0, min(n, count))
	for i := n - min(n, count); i < n; i++ { // Floyd's method
		j := r.IntN(i + 1)
		if in[j] {
			j = i
		}
		in[j] = true
		rows = append(rows, j)
	}
	slices.Sort(rows)
	return rows
}

// estimate returns the recall of the lists whose distances dist returns; the
// first k count. The interval is Wilson's for as many independent trials as
// explain the variance between points, but for no fewer trials than points,
// and shrinks as the sample nears the whole.
func (s *recallSample) estimate(dist func(i int) []float64) Recall {
	m := float64(len(s.rows))
	var sum, squares float64
	for r, i := range s.rows {
		found := 0
		for _, d := range dist(i)[:s.k] {
			if d <= s.kth[r] {
				found++
			}
		}
		share := float64(found) / float64(s.k)
		sum += share
		squares += share * share
	}
	p := sum / m
	out := Recall{Share: p, Low: p, High: p, Sample: len(s.rows)}
	left := 1 - m/float64(s.n) // finite population correction
	if left <= 0 {
		return out
	}
	trials := m
	if variance := (squares - m*p*p) / max(1, m-1); variance > 0 {
		trials = min(max(m, m*p*(1-p)/variance), m*float64(s.k))
	}
	trials /= left
	const z = 1.959964
	center := (p + z*z/(2*trials)) / (1 + z*z/trials)
	half := z / (1 + z*z/trials) * math.Sqrt(p*(1-p)/trials+z*z/(4*trials*trials))
	out.Low, out.High = max(0, center-half), min(1, center+half)
	return out
}
