package knn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/data"
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

// A RecallSample holds the distance of the k-th neighbour of some of n points.
type RecallSample struct {
	N, K int
	Rows []int     // of the sample, ascending
	Kth  []float64 // the distance of the K-th neighbour of each
}

// NewRecallSample finds the true neighbours of count of the points of x, all if there are no
// more, which seed chooses. It searches x in parts, so that it takes little memory beside x:
// 2·count·n·d operations.
func NewRecallSample(ctx context.Context, x data.Points, m Metric, k, count int, seed uint64) (*RecallSample, error) {
	n, _ := x.Dims()
	if err := checkK(k, n-1); err != nil {
		return nil, err
	}
	s := &RecallSample{N: n, K: k, Rows: sampleRows(n, count, seed)}
	e := &parts{x, m}
	nb, err := e.search(ctx, data.Select(x, s.Rows), k, func(r int) int { return s.Rows[r] }, nil)
	if err != nil {
		return nil, err
	}
	for r := range s.Rows {
		_, dist := nb.Row(r)
		s.Kth = append(s.Kth, dist[k-1])
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

// Estimate returns the recall of the lists whose distances dist returns; the
// first K count. The interval is Wilson's for as many independent trials as
// explain the variance between points, but for no fewer trials than points,
// and shrinks as the sample nears the whole.
func (s *RecallSample) Estimate(dist func(i int) []float64) Recall {
	m := float64(len(s.Rows))
	var sum, squares float64
	for r, i := range s.Rows {
		found := 0
		for _, d := range dist(i)[:s.K] {
			if d <= s.Kth[r] {
				found++
			}
		}
		share := float64(found) / float64(s.K)
		sum += share
		squares += share * share
	}
	p := sum / m
	out := Recall{Share: p, Low: p, High: p, Sample: len(s.Rows)}
	left := 1 - m/float64(s.N) // finite population correction
	if left <= 0 {
		return out
	}
	trials := m
	if variance := (squares - m*p*p) / max(1, m-1); variance > 0 {
		trials = min(max(m, m*p*(1-p)/variance), m*float64(s.K))
	}
	trials /= left
	const z = 1.959964
	center := (p + z*z/(2*trials)) / (1 + z*z/trials)
	half := z / (1 + z*z/trials) * math.Sqrt(p*(1-p)/trials+z*z/(4*trials*trials))
	out.Low = max(0, center-half)
	out.High = min(1, center+half)
	return out
}
