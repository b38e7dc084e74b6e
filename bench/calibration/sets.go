package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// set is a data set: the files of points and labels in BIGFIT_DATA.
type set struct {
	name, points, labels string
	text                 bool // compared by angle
}

// sets are all classification sets with at least 40 labels a class.
var sets = []set{
	{name: "digit1", points: "sslbook_digit1.npz:X", labels: "sslbook_digit1.npz:y"},
	{name: "usps-ssl", points: "sslbook_usps.npz:X", labels: "sslbook_usps.npz:y"},
	{name: "coil2", points: "sslbook_coil2.npz:X", labels: "sslbook_coil2.npz:y"},
	{name: "coil", points: "sslbook_coil.npz:X", labels: "sslbook_coil.npz:y"},
	{name: "bci", points: "sslbook_bci.npz:X", labels: "sslbook_bci.npz:y"},
	{name: "g241c", points: "sslbook_g241c.npz:X", labels: "sslbook_g241c.npz:y"},
	{name: "g241n", points: "sslbook_g241n.npz:X", labels: "sslbook_g241n.npz:y"},
	{name: "text", points: "sslbook_text_X.npz", labels: "sslbook_text_y_splits.npz:y", text: true},
	{name: "moons", points: "sindhwani_2moons.npz:X", labels: "sindhwani_2moons.npz:y"},
	{name: "g50c", points: "sindhwani_g50c.npz:X", labels: "sindhwani_g50c.npz:y"},
	{name: "g10n", points: "sindhwani_g10n.npz:X", labels: "sindhwani_g10n.npz:y"},
	{name: "uspst", points: "sindhwani_uspst.npz:X", labels: "sindhwani_uspst.npz:y"},
	{name: "mac-windows", points: "sindhwani_text1_X.npz", labels: "sindhwani_text1_y_splits.npz:y", text: true},
	{name: "webkb-page", points: "webkb_sindhwani_page_X.npz", labels: "webkb_sindhwani_y.npy", text: true},
	{name: "webkb-link", points: "webkb_sindhwani_link_X.npz", labels: "webkb_sindhwani_y.npy", text: true},
	{name: "news20", points: "news20_full_X.npz", labels: "news20_full_y.npz:y", text: true},
	{name: "isolet", points: "isolet.npz:X", labels: "isolet.npz:y"},
	{name: "coil20", points: "coil20.npz:X", labels: "coil20.npz:y"},
	{name: "phonemes", points: "phoneme_esl.npz:X", labels: "phoneme_esl.npz:y"},
	{name: "usps", points: "usps_X.npz", labels: "usps_y.npy"},
	{name: "usps-all", points: "usps_all11000.npz:X", labels: "usps_all11000.npz:y"},
	{name: "mnist", points: "mnist_train_images.npz", labels: "mnist_train_labels.npy"},
	{name: "insurance", points: "insurance_coil2000.npz:X", labels: "insurance_coil2000.npz:y"},
}

// loaded is a set with its graph: of 10 neighbours, with self-tuning weights, after PCA to
// 50 dimensions where there are more than 100.
type loaded struct {
	set
	x     data.Points
	truth *data.Labels
	graph *pipeline.Graph
	pipe  *pipeline.Pipeline
}

// load reads a set; of more than most points so many are drawn.
func (s set) load(ctx context.Context, dir string, most int) (*loaded, error) {
	x, err := data.ReadPoints(filepath.Join(dir, s.points), data.ReadOptions{})
	if err != nil {
		return nil, err
	}
	y, err := data.ReadLabels(filepath.Join(dir, s.labels), data.LabelOptions{NoUnlabeled: true})
	if err != nil {
		return nil, err
	}
	rows := data.Nonzero(x)
	if !s.text {
		n, _ := x.Dims()
		rows = data.Range(0, n)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	rows = rows[:min(most, len(rows))]
	l := &loaded{set: s, x: data.Select(x, rows), truth: y.Select(rows), pipe: &pipeline.Pipeline{}}
	g := &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 10, Weights: knn.SelfTuning}}
	switch _, d := x.Dims(); {
	case s.text:
		g.Metric = knn.Angle
	case d > 100:
		g.PCA = 50
	}
	if l.graph, err = l.pipe.Graph(ctx, l.x, g); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return l, nil
}

// draw returns the classes of so many points of each class, drawn by seed, and of no others.
func (l *loaded) draw(perClass int, seed uint64) *data.Labels {
	rng := rand.New(rand.NewPCG(seed, 3))
	out := &data.Labels{Classes: l.truth.Classes, Names: l.truth.Names, Index: make([]int32, l.truth.Len())}
	left := make([]int, len(l.truth.Classes))
	for c := range left {
		left[c] = perClass
	}
	for i := range out.Index {
		out.Index[i] = data.Unlabeled
	}
	for _, i := range rng.Perm(l.truth.Len()) {
		if c := l.truth.Index[i]; c != data.Unlabeled && left[c] > 0 {
			out.Index[i] = c
			left[c]--
		}
	}
	return out
}

// input is that of a fit of one draw.
func (l *loaded) input(t *models.Targets, v models.Values) *models.Input {
	return &models.Input{Points: l.x, Targets: t, Graph: &l.graph.Graph, Values: models.Values{}.With(v)}
}
