package knn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/data"
)

// A Recall is the share of true neighbours that a search found, estimated on a random sample of the
// points. A point found at most as far away as the k-th true neighbour counts as a true one, so
// that ties are not misses.
type Recall struct {
	Share     float64 `json:"share"`
	Low, High float64 // a 95 % confidence interval, which is Share itself if the sample is all points
	Sample    int     `json:"sample"` // points compared with an exact search
}

// String returns the recall with its interval and the size of the sample.
func (r Recall) String() string {
	return fmt.Sprintf("%.4f (%.4f to %.4f, by %d points)", r.Share, r.Low, r.High, r.Sample)
}

// A RecallSample holds the distances of the K-th neighbours of a sample of N points.
type RecallSample struct {
	N, K int
	Rows []int     // the points of the sample, ascending
	Kth  []float64 // the distance of the K-th neighbour of each
}

// NewRecallSample finds the true neighbours of count points of x, chosen by seed, or of all points if
// there are no more. It searches x in chunks, with little memory beside x, and takes
// 2·count·n·d operations.
func NewRecallSample(ctx context.Context, x data.Points, m Metric, k, count int, seed uint64) (
	*RecallSample, error) {
	n, _ := x.Dims()
	if err := checkK(k, n-1); err != nil {
		return nil, err
	}
	s := &RecallSample{N: n, K: k, Rows: sampleRows(n, count, seed)}
	e := &chunked{x, m}
	// Points of the sample do not find themselves.
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

// sampleRows draws count of n numbers, or all if there are no more, and returns them ascending.
func sampleRows(n, count int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 0x7265_6361_6c6c))
	in := make(map[int]bool)
	rows := make([]int, 0, min(n, count))

	// Floyd's method (CACM 30 (1987), 754–757).
	for i := n - min(n, count); i < n; i++ {
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

// Estimate returns the recall of the first K neighbours in lists, where dist(i) returns the
// distances in list i. The interval is Wilson's score interval for a number of independent trials
// that explains the variance between points: the neighbours of a point are not independent. There
// are at least as many trials as points, and the interval shrinks as the sample nears the whole.
func (s *RecallSample) Estimate(dist func(i int) []float64) Recall {
	m := float64(len(s.Rows))
	var sum, squares float64
	for r, i := range s.Rows {
		// The k-th true distance decides, so that ties count.
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

	const z = 1.959964 // 97.5 % quantile of the normal distribution
	center := (p + z*z/(2*trials)) / (1 + z*z/trials)
	half := z / (1 + z*z/trials) * math.Sqrt(p*(1-p)/trials+z*z/(4*trials*trials))
	out.Low = max(0, center-half)
	out.High = min(1, center+half)
	return out
}
