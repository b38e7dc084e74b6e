package papers

import (
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/view/results"
)

// Of each letter of a speaker the first utterance is trained on and the second tested on;
// speakers beyond the first 30 are left out.
func TestByUtterance(t *testing.T) {
	speakers := data.NewLabels([]int64{0, 0, 0, 0, 1, 1}, nil)
	letters := data.NewLabels([]int64{7, 8, 7, 8, 7, 7}, nil)
	train, test := byUtterance(speakers, letters)
	if !slices.Equal(train, []int{0, 1, 4}) || !slices.Equal(test, []int{2, 3, 5}) {
		t.Errorf("train %v, test %v", train, test)
	}
	var many []int64
	for i := range int64(70) {
		many = append(many, i)
	}
	train, test = bySpeaker(data.NewLabels(many, nil), nil)
	if !slices.Equal(train, data.Range(0, 30)) || !slices.Equal(test, data.Range(40, 70)) {
		t.Errorf("train %v, test %v", train, test)
	}
}

// More labels make pairs of drawn digits easier, on unlabeled points and on others.
func TestDigitPairCounts(t *testing.T) {
	x, truth := synthetic.Digits(150, 4)
	y := data.NewDense[float64](x.Rows, x.Cols)
	for i, v := range x.Data {
		y.Data[i] = float64(v)/127.5 - 1
	}
	d := &pairData{x: y, truth: truth, of: make([][]int, len(truth.Classes))}
	for i, c := range truth.Index {
		d.of[c] = append(d.of[c], i)
	}
	d.of = d.of[:3]
	var means [2][]float64
	for _, labels := range []int{2, 8} {
		pairs, err := d.run(t.Context(), Options{}, labels, pairCurves[:2], &observer{t: t})
		if err != nil {
			t.Fatal(err)
		}
		if len(pairs) != 3 {
			t.Fatalf("%d pairs", len(pairs))
		}
		for part := range means {
			var all []float64
			for _, p := range pairs {
				mean, _ := results.MeanStd(p.errors[part][0])
				all = append(all, mean)
			}
			mean, _ := results.MeanStd(all)
			means[part] = append(means[part], mean)
		}
	}
	for part, m := range means {
		if !(m[1] < m[0]) {
			t.Errorf("part %d: %v %% with 2 labels, %v with 8", part, m[0], m[1])
		}
	}
}
