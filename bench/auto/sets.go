package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// set is a data set of the folder BIGFIT_DATA: one class a point.
type set struct{ name, x, y string }

// sets are all classification sets; two views of one text, or two ways to count its
// words, count as two.
var sets = []set{
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
	{"mnist", "mnist_test_images.npz", "mnist_test_labels.npy"},
	{"news20", "news20_bydate_X.npz", "news20_bydate_y.npz"},
}

// loaded is a set in memory, or some of its points.
type loaded struct {
	set
	points data.Points
	truth  *data.Labels
	rows   []int // of the files
}

// read reads a set, or so many of its points, drawn once for all; 0 is all.
func (s set) read(dir string, limit int) (*loaded, error) {
	x, y := filepath.Join(dir, s.x), filepath.Join(dir, s.x)
	if s.y != "" {
		y = filepath.Join(dir, s.y)
	}
	out := &loaded{set: s}
	var err error
	if out.points, err = data.ReadPoints(x, data.ReadOptions{}); err != nil {
		return nil, err
	}
	if out.truth, err = data.ReadLabels(y, data.LabelOptions{NoUnlabeled: true}); err != nil {
		return nil, err
	}
	n, _ := out.points.Dims()
	if out.truth.Len() != n {
		return nil, fmt.Errorf("%s: %d points and %d labels", s.name, n, out.truth.Len())
	}
	out.rows = data.Range(0, n)
	if limit > 0 && n > limit {
		out.rows = rand.New(rand.NewPCG(1, 2)).Perm(n)[:limit]
		slices.Sort(out.rows)
		out.points, out.truth = data.Select(out.points, out.rows), out.truth.Select(out.rows)
	}
	return out, nil
}

// draw returns the numbers of points with a label: so many of each class, at most half
// of the class.
func (s *loaded) draw(labels int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, uint64(labels)))
	members := make([][]int, len(s.truth.Classes))
	for i, c := range s.truth.Index {
		members[c] = append(members[c], i)
	}
	var out []int
	for _, all := range members {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		out = append(out, all[:min(labels, max(1, len(all)/2))]...)
	}
	slices.Sort(out)
	return out
}

// targets are those of a draw.
func (s *loaded) targets(drawn []int) (*models.Targets, error) {
	return models.ClassTargets(s.truth.Keep(drawn))
}

// wrong is the share of points without a label whose class is wrong, in percent.
func (s *loaded) wrong(drawn []int, classes []int32) float64 {
	wrong, asked := 0, 0
	for i, c := range classes {
		if _, given := slices.BinarySearch(drawn, i); given {
			continue
		}
		asked++
		if c != s.truth.Index[i] {
			wrong++
		}
	}
	return 100 * float64(wrong) / float64(asked)
}
