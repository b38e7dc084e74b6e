package papers

import (
	"context"
	"fmt"
	"time"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// landmarkRun holds the settings of LapRLS and RLS on many points by landmarks.
type landmarkRun struct {
	landmarks, labels, draws int
	dimensions               int // principal components that the kernel sees
	gammaA, gammaI           []float64
}

// digitImages holds images to train on and to test on, with their classes.
type digitImages struct {
	name          string
	x, xt         *data.Dense[uint8]
	truth, truthT *data.Labels
}

// Landmarks runs LapRLS and RLS on more points than the n³ operations of Belkin, Niyogi &
// Sindhwani (2006), section 7, allow: on the 60,000 training images of MNIST, 1000 of them
// labeled, with 4000 landmarks. It measures errors on the other training images and on the
// 10,000 test images, over five draws, with the images as they are and deskewed
// ([synthetic.Deskew]). The graph has the settings [BestGraph], with L = D − W. The Gaussian
// kernel sees the first 40 principal components, and its σ is half the median distance.
// Fivefold cross-validation on the labels of a draw chooses γ_A and γ_I.
func Landmarks(ctx context.Context, o Options, obs stage.Observer) (*results.Table, error) {
	obs.Begin("data")
	d := &digitImages{name: "as they are"}
	var err error
	if d.x, d.truth, err = mnistImages(o, "train"); err != nil {
		return nil, err
	}
	if d.xt, d.truthT, err = mnistImages(o, "t10k"); err != nil {
		return nil, err
	}

	obs.End(fmt.Sprintf("%d and %d images", d.x.Rows, d.xt.Rows))
	run := landmarkRun{landmarks: 4000, labels: 1000, draws: 5, dimensions: 40,
		gammaA: []float64{1e-7, 1e-5, 1e-3}, gammaI: []float64{1e-5, 1e-4, 1e-3}}
	records, err := run.images(ctx, o, d, obs)
	if err != nil {
		return nil, err
	}
	d.name = "deskewed"
	// The second half of the table repeats everything on deskewed images, the graph included.
	for _, images := range []**data.Dense[uint8]{&d.x, &d.xt} {
		if *images, err = synthetic.Deskew(*images, synthetic.DigitSide); err != nil {
			return nil, err
		}
	}

	deskewed, err := run.images(ctx, o, d, obs)
	if err != nil {
		return nil, err
	}
	return MachineTable(append(records, deskewed...)), nil
}

// mnistImages reads the images of [mnist] as bytes.
func mnistImages(o Options, part string) (*data.Dense[uint8], *data.Labels, error) {
	x, y, err := ReadMNIST(o, part)
	if err != nil {
		return nil, nil, err
	}
	images, ok := x.(*data.Dense[uint8])
	if !ok {
		return nil, nil, fmt.Errorf("papers: the images of %s in %s are not bytes", part, o.Dir)
	}
	return images, y, nil
}

// landmarkData holds the points, kernel and draws that both machines are fitted to.
type landmarkData struct {
	*digitImages
	z, zt  data.Points // principal components of the images
	kernel kernel.Kernel
	draws  []*data.Labels
}

// images returns the records of both machines on the images d.
func (r *landmarkRun) images(ctx context.Context, o Options, d *digitImages,
	obs stage.Observer) ([]results.Record, error) {
	obs.Begin("graph")
	w, err := bestGraph(ctx, d.x)
	if err != nil {
		return nil, err
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		return nil, err
	}

	in := &landmarkData{digitImages: d}
	// Test images are projected with the mean and axes of the training images.
	p, err := pca.New(ctx, d.x, r.dimensions)
	if err != nil {
		return nil, err
	}
	if in.z, err = p.Apply(d.x); err == nil {
		in.zt, err = p.Apply(d.xt)
	}
	if err != nil {
		return nil, err
	}

	obs.End("images " + d.name)

	for i := range r.draws {
		y, err := d.truth.Draw(r.labels, o.Seed+uint64(i))
		if err != nil {
			return nil, err
		}
		in.draws = append(in.draws, y)
	}

	// Nine of ten pairs of images show different digits, so the median distance is wider than a
	// class.
	sigma, err := kernel.Width(in.z, kernel.Median, o.Seed)
	if err != nil {
		return nil, err
	}
	in.kernel = kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma / 2}
	rls, err := r.machine(ctx, o, in, nil, obs)
	if err != nil {
		return nil, err
	}

	lapRLS, err := r.machine(ctx, o, in, l, obs)
	return append(rls, lapRLS...), err
}

// machine returns the records of LapRLS, or of RLS if l is nil: errors on the points
// without a label and on the test points.
func (r *landmarkRun) machine(ctx context.Context, o Options, in *landmarkData, l *sparse.Laplacian,
	obs stage.Observer) ([]results.Record, error) {
	name := "RLS"
	if l != nil {
		name = "LapRLS"
	}
	obs.Begin(name)
	// The fit of the chosen setting to all labels of the draw, timed alone.
	start := time.Now()
	problem, err := kernelmachine.NewApproximateProblem(ctx,
		&kernelmachine.Data{Points: in.z, Kernel: in.kernel, Laplacian: l, Limit: o.Limit}, regularizer.Regularizer{},
		&kernelmachine.ApproximationSettings{Landmarks: r.landmarks, Seed: o.Seed})
	if err != nil {
		return nil, err
	}

	// σ is fixed: the learner finds the prepared problem by it.
	prepared := time.Since(start)
	learner := NewPrepared(l)
	learner.Problems[in.kernel.Sigma] = problem
	grid := &selection.Grid{Learner: learner,
		Fixed: models.Values{"sigma": models.FormatFloat(in.kernel.Sigma)},
		Axes:  map[string][]string{"gamma-a": Texts(r.gammaA)}}
	if l != nil {
		grid.Axes["gamma-i"] = Texts(r.gammaI)
	}
	var unlabeled, test []float64
	var last models.Values // of the last draw

	var fitted time.Duration
	for i, y := range in.draws {
		t, err := models.ClassTargets(y)
		if err != nil {
			return nil, err
		}
		found, err := selection.Search(ctx, &selection.Data{Targets: t, Points: in.z}, grid,
			&selection.Settings{Folds: 5, Seed: o.Seed})
		if err != nil {
			return nil, fmt.Errorf("%s, draw %d: %w", name, i+1, err)
		}
		last = found.Best().Setting.Values
		start := time.Now()
		machine, err := learner.Fit(ctx, &models.Input{Targets: t, Values: last})
		if err != nil {
			return nil, fmt.Errorf("%s, draw %d: %w", name, i+1, err)
		}

		fitted = time.Since(start)
		inside, err := machine.Predict(ctx, in.z, nil)
		if err != nil {
			return nil, err
		}
		outside, err := machine.Predict(ctx, in.zt, nil)
		if err != nil {
			return nil, err
		}

		unlabeled = append(unlabeled, wrong(inside.Scores, in.truth, y))
		test = append(test, wrong(outside.Scores, in.truthT, nil))
		obs.Update(float64(i+1), float64(len(in.draws)), "")
	}

	remark := fmt.Sprintf("last draw γ_A = %g, γ_I = %g; %d landmarks and the norms %.1f s, a fit %.1f s",
		last.Float("gamma-a"), last.Float("gamma-i"), r.landmarks, prepared.Seconds(), fitted.Seconds())
	obs.End(remark)
	return []results.Record{
		MachineRecord("unlabeled, images "+in.name, name, unlabeled, 0, remark),
		MachineRecord("test, images "+in.name, name, test, 0, ""),
	}, nil
}

// Texts formats numbers as values of a parameter.
func Texts(numbers []float64) []string {
	out := make([]string, len(numbers))
	for i, v := range numbers {
		out[i] = models.FormatFloat(v)
	}
	return out
}

// bestGraph makes the graph of our recipe.
func bestGraph(ctx context.Context, x data.Points) (*sparse.CSR, error) {
	p, err := pca.New(ctx, x, BestDimensions)
	if err != nil {
		return nil, err
	}
	z, err := p.Apply(x)
	if err != nil {
		return nil, err
	}
	return (&Experiment{X: z, Graph: BestGraph}).graph(ctx)
}
