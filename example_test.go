package bigfit_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit"
)

// Few of many points have a label; the model answers for all others and for new ones.
func Example() {
	ctx := context.Background()
	x, trees := blobs(300, 1)
	y := make([]string, len(x))
	copy(y, trees[:30]) // "" marks the points without a label

	m, err := bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(y), nil)
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict(ctx, bigfit.Rows([][]float64{{5, 0, 0, 0}, {0, 0, 5, 0}}))
	if err != nil {
		log.Fatal(err)
	}
	for i := range p.Len() {
		fmt.Printf("%s, sure: %v\n", p.Name(i), p.Probability(i) > 0.9)
	}
	// Output:
	// ash, sure: true
	// cedar, sure: true
}

// Options name a model, its parameters and the graph. What cannot be is an error that says what
// may have been meant.
func ExampleFit_options() {
	ctx := context.Background()
	x, trees := blobs(120, 1)
	y := make([]string, len(x))
	copy(y, trees[:12])

	o := &bigfit.Options{
		Model:      "lgc",
		Parameters: bigfit.Parameters{"alpha": 0.9, "weights": "self-tuning"},
		Neighbors:  12,
		Seed:       7,
		Memory:     1 << 30,
	}
	m, err := bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(y), o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Name(), m.Classes(), "alpha", m.Parameters()["alpha"])

	o.Parameters = bigfit.Parameters{"alhpa": 0.9}
	_, err = bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(y), o)
	fmt.Println(err)
	// Output:
	// lgc [ash birch cedar] alpha 0.9
	// bigfit: lgc: unknown parameter "alhpa"; did you mean alpha?
}

// Values are learned where labels are numbers; NaN marks points without one.
func ExampleValues() {
	ctx := context.Background()
	x := mat.NewDense(200, 1, nil)
	y := make([]float64, 200)
	for i := range y {
		x.Set(i, 0, float64(i)/30)
		y[i] = math.NaN()
		if i%5 == 0 {
			y[i] = math.Sin(x.At(i, 0))
		}
	}

	m, err := bigfit.Fit(ctx, bigfit.FromMat(x), bigfit.Values(y), &bigfit.Options{Model: "rls"})
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict(ctx, bigfit.Rows([][]float64{{math.Pi / 2}, {math.Pi}}))
	if err != nil {
		log.Fatal(err)
	}
	for i := range p.Len() {
		low, high, err := p.Interval(i, 0.9)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.1f, within ±0.1: %v\n", math.Abs(p.Value(i)), high-low < 0.2)
	}
	// Output:
	// 1.0, within ±0.1: true
	// 0.0, within ±0.1: true
}

// The model says which points to label next; the labels join it, and so do new points.
func ExampleModel_Next() {
	ctx := context.Background()
	x, trees := blobs(300, 1)
	y := make([]string, len(x))
	copy(y, trees[:6])
	m, err := bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(y), nil)
	if err != nil {
		log.Fatal(err)
	}

	for range 3 {
		choices, err := m.Next(ctx, 5, nil)
		if err != nil {
			log.Fatal(err)
		}
		for _, c := range choices {
			y[c.Point] = trees[c.Point] // in life, somebody looks at the point
		}
		if m, err = m.Update(ctx, bigfit.Points{}, bigfit.Names(y)); err != nil {
			log.Fatal(err)
		}
	}

	// Points of the next day come without labels.
	fresh, _ := blobs(20, 2)
	if m, err = m.Update(ctx, bigfit.Rows(fresh), bigfit.Labels{}); err != nil {
		log.Fatal(err)
	}
	p, err := m.Training(ctx)
	if err != nil {
		log.Fatal(err)
	}
	known := 0
	for _, name := range y {
		if name != "" {
			known++
		}
	}
	fmt.Println(known, "labels,", p.Len(), "answers")
	// Output: 21 labels, 320 answers
}

// Labels that disagree with the others are listed, the most doubtful first.
func ExampleModel_Suspects() {
	ctx := context.Background()
	x, trees := blobs(300, 1)
	y := make([]string, len(x))
	copy(y, trees[:60])
	y[17] = "ash" // which is a cedar

	m, err := bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(y), &bigfit.Options{Model: "lgc"})
	if err != nil {
		log.Fatal(err)
	}
	suspects, err := m.Suspects(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range suspects {
		fmt.Printf("point %d: given %s, rather %s\n", s.Point, s.Given, s.Suggested)
	}
	// Output: point 17: given ash, rather cedar
}

// A model file is shared with the command bigfit: each takes what the other wrote.
func ExampleLoad() {
	ctx := context.Background()
	x, trees := blobs(120, 1)
	y := make([]string, len(x))
	copy(y, trees[:12])
	fitted, err := bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(y), &bigfit.Options{Model: "harmonic"})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "bigfit")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "m.npz")
	if err := fitted.Save(path); err != nil {
		log.Fatal(err)
	}

	m, err := bigfit.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Name(), "takes points of", m.Dim(), "numbers; classes", m.Classes())
	// Output: harmonic takes points of 4 numbers; classes [ash birch cedar]
}

// Ids name the points: labels come by id, and choices, suspects and answers bear ids. The file of the
// model keeps them, so that the command bigfit knows them as well.
func ExampleNamesByID() {
	ctx := context.Background()
	x, trees := blobs(300, 1)
	ids := make([]string, len(x))
	for i := range ids {
		ids[i] = fmt.Sprintf("photo-%03d", i)
	}
	labels := map[string]string{}
	for i := range 6 {
		labels[ids[i]] = trees[i]
	}
	m, err := bigfit.Fit(ctx, bigfit.Rows(x).WithIDs(ids), bigfit.NamesByID(labels), nil)
	if err != nil {
		log.Fatal(err)
	}

	choices, err := m.Next(ctx, 5, nil)
	if err != nil {
		log.Fatal(err)
	}
	looked := map[string]string{"photo-000": ""} // "" takes a label away
	for _, c := range choices {
		looked[c.ID] = trees[c.Point] // in life, somebody looks at the photo of that id
	}
	if m, err = m.Update(ctx, bigfit.Points{}, bigfit.NamesByID(looked)); err != nil {
		log.Fatal(err)
	}

	// A photo leaves, and those of the next day come with their own ids.
	if m, err = m.Forget(ctx, "photo-007"); err != nil {
		log.Fatal(err)
	}
	fresh, _ := blobs(2, 2)
	m, err = m.Update(ctx, bigfit.Rows(fresh).WithIDs([]string{"late-0", "late-1"}), bigfit.Labels{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Training(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Len(), "answers; the last is for", p.ID(p.Len()-1)+":", p.Name(p.Len()-1))
	// Output: 301 answers; the last is for late-1: birch
}
