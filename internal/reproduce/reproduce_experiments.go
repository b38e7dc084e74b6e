package reproduce

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/results"
	"github.com/bigfit/bigfit/internal/report"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/pipeline"
)

// webkb runs the experiments on the course pages.
func (a *app) webkb(ctx context.Context, _ string, o papers.Options) (*reproduction, error) {
	st := a.Progress.Stage("data")
	e, err := papers.NewWebKB(o)
	if err != nil {
		return nil, err
	}
	n := float64(e.Page.Rows)
	st.Done(fmt.Sprintf("WebKB: %d pages", e.Page.Rows))
	if err := a.Need("warped kernels", int64(10*8*n*n), 6*6*5*n*n*n, "use less data"); err != nil {
		return nil, err
	}
	table, err := e.Run(ctx, a.Observer())
	if err != nil {
		return nil, err
	}
	return &reproduction{table: table}, nil
}

// propagation runs the experiment on graph regularization.
func (a *app) propagation(ctx context.Context, _ string, o papers.Options) (*reproduction, error) {
	st := a.Progress.Stage("data")
	e, err := papers.NewPropagation(o)
	if err != nil {
		return nil, err
	}
	n, d := e.X.Dims()
	st.Done(fmt.Sprintf("MNIST: %d points × %d", n, d))
	if err := a.Need("neighbours", knn.BruteBytes(e.X, e.Graph.K), knn.BruteOperations(e.X), "use less data"); err != nil {
		return nil, err
	}
	table, notConverged := e.Run(ctx, a.Observer())
	if table == nil {
		return nil, notConverged
	}
	return &reproduction{table: table}, notConverged
}

// sssl runs the experiments of Ji et al. 2012.
func (a *app) sssl(ctx context.Context, _ string, o papers.Options) (*reproduction, error) {
	table, err := papers.SSSL(ctx, o, a.Observer())
	if err != nil {
		return nil, err
	}
	return &reproduction{table: table}, nil
}

// machineExperiments are the experiments on kernel machines. Their draws, rows
// and methods are those of the papers.
var machineExperiments = map[string]func(context.Context, papers.Options, pipeline.Observer) (*results.Table, error){
	"point-cloud": papers.PointCloud,
	"usps":        papers.DigitPairs,
	"isolet":      papers.Isolet,
	"moons":       papers.Moons,
	"ssl-book":    papers.SSLBook,
	"landmarks":   papers.Landmarks,
}

// machines runs one of them.
func (a *app) machines(ctx context.Context, name string, o papers.Options) (*reproduction, error) {
	table, err := machineExperiments[name](ctx, o, a.Observer())
	if err != nil {
		return nil, err
	}
	r := &reproduction{table: table}
	if name == "moons" {
		r.figures = func(ctx context.Context) ([]report.Block, error) {
			figures, err := papers.ReadMoonsFigures(ctx, o)
			if err != nil {
				return nil, err
			}
			var out []report.Block
			for _, fig := range figures {
				s, err := moonsSurfaces(ctx, fig)
				if err != nil {
					return nil, err
				}
				out = append(out, s)
			}
			return out, nil
		}
	}
	return r, nil
}

// multiLabelExperiments are those of Minh & Sindhwani (2011).
var multiLabelExperiments = map[string]func(papers.Options) (*papers.MultiLabel, error){
	"scene": papers.Scene,
	"rcv1":  papers.RCV1,
}

// multiLabel runs one of them.
func (a *app) multiLabel(ctx context.Context, name string, o papers.Options) (*reproduction, error) {
	st := a.Progress.Stage("data")
	e, err := multiLabelExperiments[name](o)
	if err != nil {
		return nil, err
	}
	if a.Given["splits"] {
		e.Draws = o.Splits
	}
	n, d := e.Points.Dims()
	_, labels := e.Labels.Dims()
	st.Done(fmt.Sprintf("%s: %d points × %d, %d labels", e.Name, n, d, labels))
	if err := a.Need("kernel", 6*kernel.GramBytes(n), 10*float64(n)*float64(n)*float64(n), "use less data"); err != nil {
		return nil, err
	}
	table, err := e.Run(ctx, a.Observer())
	if err != nil {
		return nil, err
	}
	return &reproduction{table: table}, nil
}
