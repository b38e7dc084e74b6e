package figures

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

const (
	curvePoints    = 500 // as in the paper
	curveNeighbors = 8
	curveLabels    = 3 // of each class
	curveSteps     = 20_000
)

// curveAt returns the point of the closed curve at t in [0, 1): a dumbbell whose two sides are a tenth of its
// length apart in the middle.
func curveAt(t float64) (x, y float64) {
	a := 2 * math.Pi * t
	c := math.Cos(a)
	return 1.5 * c, math.Sin(a) * (0.15 + 0.85*c*c)
}

// randomCurve draws n points uniformly by arc length. place is the arc length of each from t = 0 on, in turns, and
// the classes are the upper and the lower half of the curve.
func randomCurve(n int, seed uint64) (x *data.Dense[float64], truth *data.Labels, place []float64) {
	// The length up to each of many steps, to be inverted.
	lengths := make([]float64, curveSteps+1)
	for i := range curveSteps {
		ax, ay := curveAt(float64(i) / curveSteps)
		bx, by := curveAt(float64(i+1) / curveSteps)
		lengths[i+1] = lengths[i] + math.Hypot(bx-ax, by-ay)
	}

	rng := rand.New(rand.NewPCG(seed, 0x6375727665)) // "curve"
	x = data.NewDense[float64](n, 2)
	classes := make([]int64, n)
	for i := range n {
		s := rng.Float64()
		place = append(place, s)
		step := 0
		for step < curveSteps-1 && lengths[step+1] < s*lengths[curveSteps] {
			step++
		}
		row := x.Row(i)
		row[0], row[1] = curveAt((float64(step) + 0.5) / curveSteps)
		if row[1] < 0 {
			classes[i] = 1
		}
	}
	return x, data.NewLabels(classes, nil), place
}

// Curve repeats Figure 1 of Belkin & Niyogi (2004): two classes on a plane curve, three labels of each, 500 points
// without one; the ideal representation of the curve, a circle that it runs around at even speed; and the first two
// eigenfunctions of the Laplacian. The paper names neither the curve nor the graph. The table has the error of the
// nearest labeled point in each of the three, and how far the eigenmap is from the ideal representation: the root of
// the mean squared difference between the angles, in degrees, after the best turn.
func Curve(ctx context.Context, o papers.Options, obs stage.Observer) (*results.Table, []results.Picture, error) {
	obs.Begin("curve")
	x, truth, place := randomCurve(curvePoints, o.Seed)
	nb, err := papers.Neighbors(ctx, x, curveNeighbors)
	if err != nil {
		return nil, nil, err
	}
	l, err := papers.Laplacian(nb, knn.GraphSettings{K: curveNeighbors}, sparse.Combinatorial)
	if err != nil {
		return nil, nil, err
	}
	w, _, err := knn.FromNeighbors(nb, knn.GraphSettings{K: curveNeighbors})
	if err != nil {
		return nil, nil, err
	}
	components := w.Components()
	eigs, err := lanczos.Laplacian(ctx, l, components, &lanczos.Settings{K: 3, Seed: o.Seed})
	if err != nil {
		return nil, nil, err
	}
	obs.End(components.Describe(w.NNZ()))

	// The first eigenvector is constant; the next two are the coordinates.
	ideal := data.NewDense[float64](curvePoints, 2)
	mapped := data.NewDense[float64](curvePoints, 2)
	scale := math.Sqrt(curvePoints / 2.)
	for i, s := range place {
		a, b := ideal.Row(i), mapped.Row(i)
		a[0], a[1] = math.Cos(2*math.Pi*s), math.Sin(2*math.Pi*s)
		b[0], b[1] = scale*eigs.Vectors.At(i, 1), scale*eigs.Vectors.At(i, 2)
	}
	apart := turned(mapped, place)

	t := &results.Table{
		Columns: []results.Column{{Key: "space", Name: "coordinates"},
			{Key: "error", Deviation: "error_std", Name: "nearest labeled point", Unit: "% wrong", Kind: results.Numbers,
				Format: results.Format{Number: "%.1f", Deviation: "%.1f"}},
			{Key: "degrees", Name: "from the ideal angle", Unit: "°", Kind: results.Numbers,
				Format: results.Format{Number: "%.1f"}}},
		Views: []results.View{{Show: []string{"space", "error", "degrees"}}},
		Notes: []string{fmt.Sprintf("the curve is ours: the paper draws one and names neither it nor the graph; %d neighbours "+
			"either way, weights one, D − W; %d labels of each class", curveNeighbors, curveLabels)},
	}
	spaces := []struct {
		name    string
		x       *data.Dense[float64]
		degrees results.Value
	}{
		{"plane", x, results.Value{Text: " "}},
		{"ideal representation", ideal, results.Number(0)},
		{"two eigenfunctions", mapped, results.Number(apart)},
	}
	draws, err := papers.DrawPerClass(truth, curveLabels, o.Splits, o.Seed)
	if err != nil {
		return nil, nil, err
	}
	for _, space := range spaces {
		near, err := papers.Neighbors(ctx, space.x, 64)
		if err != nil {
			return nil, nil, err
		}
		var errs []float64
		for _, drawn := range draws {
			found, err := nearest.KNN(ctx, space.x, knn.Euclidean, near, drawn, []int{1})
			if err != nil {
				return nil, nil, err
			}
			errs = append(errs, 100*metrics.ErrorRate(found[0], truth, drawn))
		}
		t.Add(results.Text(space.name), results.Mean(errs), space.degrees)
	}

	labeled := draws[0].Labeled()
	picture := results.Picture{Title: "Two classes on a curve", Caption: "Figure 1 of Belkin & Niyogi (2004): " +
		"labeled points and all points, in the plane, on the circle that is the ideal representation, and by the first " +
		"two eigenfunctions of the Laplacian."}
	for _, space := range spaces {
		some := &data.Dense[float64]{Rows: len(labeled), Cols: 2}
		for _, i := range labeled {
			some.Data = append(some.Data, space.x.Row(i)...)
		}
		picture.Charts = append(picture.Charts,
			&chart.Scatter{Title: "labeled, " + space.name, Points: plane(some, truth.Select(labeled))},
			&chart.Scatter{Title: "all, " + space.name, Points: plane(space.x, truth)})
	}
	return t, []results.Picture{picture}, nil
}

// turned returns the root of the mean squared difference in degrees between the angles of the points and 360°
// times their places, after the best turn and in the better of the two directions.
func turned(x *data.Dense[float64], place []float64) float64 {
	best := math.Inf(1)
	for _, direction := range []float64{1, -1} {
		differences := make([]float64, len(place))
		var c, s float64
		for i := range place {
			row := x.Row(i)
			differences[i] = math.Atan2(row[1], row[0]) - direction*2*math.Pi*place[i]
			c += math.Cos(differences[i])
			s += math.Sin(differences[i])
		}
		turn := math.Atan2(s, c)
		var square float64
		for _, d := range differences {
			e := math.Remainder(d-turn, 2*math.Pi) * 180 / math.Pi
			square += e * e / float64(len(place))
		}
		best = min(best, math.Sqrt(square))
	}
	return best
}
