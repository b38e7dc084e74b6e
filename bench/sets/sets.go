// Package sets lists and reads the classification sets of the folder BIGFIT_DATA. The README
// of that folder says where they come from.
package sets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/bigfit/bigfit/data"
)

// Set is a data set with one class for each point.
type Set struct {
	Name string
	// Points and Labels name the files. If Labels is empty, the file Points holds both.
	Points, Labels string
}

// All lists all classification sets. Two views of one text, or two ways to count its words,
// are two sets.
var All = []Set{
	{"2moons", "sindhwani_2moons.npz", ""},
	{"g10n", "sindhwani_g10n.npz", ""},
	{"g50c", "sindhwani_g50c.npz", ""},
	{"bci", "sslbook_bci.npz", ""},
	{"g241c", "sslbook_g241c.npz", ""},
	{"g241n", "sslbook_g241n.npz", ""},
	{"digit1", "sslbook_digit1.npz", ""},
	{"ssl-usps", "sslbook_usps.npz", ""},
	{"coil2", "sslbook_coil2.npz", ""},
	{"coil", "sslbook_coil.npz", ""},
	{"ssl-text", "sslbook_text_X.npz", "sslbook_text_y_splits.npz"},
	{"text1", "sindhwani_text1_X.npz", "sindhwani_text1_y_splits.npz"},
	{"webkb-page", "webkb_sindhwani_page_X.npz", "webkb_sindhwani_y.npy"},
	{"webkb-link", "webkb_sindhwani_link_X.npz", "webkb_sindhwani_y.npy"},
	{"course-page", "webkb_course_page_X.npz", "webkb_course_y.npz"},
	{"course-link", "webkb_course_link_X.npz", "webkb_course_y.npz"},
	{"coil20", "coil20.npz", ""},
	{"uspst", "sindhwani_uspst.npz", ""},
	{"phoneme", "phoneme_esl.npz", ""},
	{"wine", "wine_white.npz", ""},
	{"isolet", "isolet.npz", ""},
	{"usps", "usps_X.npz", "usps_y.npy"},
	{"usps-all", "usps_all11000.npz", ""},
	{"insurance", "insurance_coil2000.npz", ""},
	{"mnist", "mnist_train_images.npz", "mnist_train_labels.npy"},
	{"news20", "news20_full_X.npz", "news20_full_y.npz"},
}

// Loaded is a set in memory, or a sample of its points.
type Loaded struct {
	Set
	X     data.Points
	Truth *data.Labels
	Rows  []int // rows of the points in the files
}

// Read reads a set. From a set of more than limit points it draws limit points, always the
// same ones. A limit of 0 means all points.
func (s Set) Read(dir string, limit int) (*Loaded, error) {
	x := filepath.Join(dir, s.Points)
	y := filepath.Join(dir, s.Points)
	if s.Labels != "" {
		y = filepath.Join(dir, s.Labels)
	}
	out := &Loaded{Set: s}
	var err error
	if out.X, err = data.ReadPoints(x, data.ReadOptions{}); err != nil {
		return nil, err
	}
	if out.Truth, err = data.ReadLabels(y, data.LabelOptions{NoUnlabeled: true}); err != nil {
		return nil, err
	}

	n, _ := out.X.Dims()
	if out.Truth.Len() != n {
		return nil, fmt.Errorf("%s: %d points and %d labels", s.Name, n, out.Truth.Len())
	}
	out.Rows = data.Range(0, n)
	if limit > 0 && n > limit {
		// Sorted rows keep the order of the file.
		out.Rows = rand.New(rand.NewPCG(1, 2)).Perm(n)[:limit]
		slices.Sort(out.Rows)
		out.X = data.Select(out.X, out.Rows)
		out.Truth = out.Truth.Select(out.Rows)
	}
	return out, nil
}

// Exchange gives a share of the labels another class, drawn evenly, and returns which points they are.
func Exchange(y *data.Labels, share float64, seed uint64) (*data.Labels, map[int]bool) {
	rng := rand.New(rand.NewPCG(seed, 30))
	labeled := y.Labeled()
	out := y.Keep(labeled)
	exchanged := map[int]bool{}
	for _, p := range rng.Perm(len(labeled))[:int(math.Round(share*float64(len(labeled))))] {
		i := labeled[p]
		out.Index[i] = int32((int(out.Index[i]) + 1 + rng.IntN(len(y.Classes)-1)) % len(y.Classes))
		exchanged[i] = true
	}
	return out, exchanged
}
