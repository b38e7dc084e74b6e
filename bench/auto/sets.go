package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// loaded is a set in memory.
type loaded struct {
	*sets.Loaded
	other data.Points // the points whose graph is taken; nil for those of the set
}

// read reads the set that a name means: see the flag -sets.
func read(name string, limit int) (*loaded, error) {
	name, other, two := strings.Cut(name, "@")
	own, err := readHalf(name, limit)
	if err != nil || !two {
		return &loaded{own, nil}, err
	}
	view, err := readHalf(other, limit)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(own.Truth.Index, view.Truth.Index) {
		return nil, fmt.Errorf("-sets: %s and %s are not the same points", name, other)
	}
	own.Name = name + "@" + other
	return &loaded{own, view.X}, nil
}

// readHalf reads a set, or half of its columns.
func readHalf(name string, limit int) (*sets.Loaded, error) {
	of, half, cut := strings.Cut(name, "/")
	i := slices.IndexFunc(sets.All, func(s sets.Set) bool { return s.Name == of })
	if i < 0 || cut && half != "1" && half != "2" {
		return nil, fmt.Errorf("-sets: there is no set %q", name)
	}
	s, err := sets.All[i].Read(os.Getenv("BIGFIT_DATA"), limit)
	if err != nil || !cut {
		return s, err
	}
	_, d := s.X.Dims()
	columns := data.Range(0, d/2)
	if half == "2" {
		columns = data.Range(d/2, d)
	}
	s.X = data.Columns(s.X, columns)
	s.Name = name
	return s, nil
}

// draw returns the sorted numbers of the labeled points: labels points of each class, but at
// most half of the class, so that points of every class are left to measure.
func (s *loaded) draw(labels int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, uint64(labels)))
	members := make([][]int, len(s.Truth.Classes))
	for i, c := range s.Truth.Index {
		members[c] = append(members[c], i)
	}
	var out []int
	for _, all := range members {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		out = append(out, all[:min(labels, max(1, len(all)/2))]...)
	}

	// wrong looks the points up by binary search.
	slices.Sort(out)
	return out
}

// targets returns the targets of a draw.
func (s *loaded) targets(drawn []int) (*models.Targets, error) {
	return models.ClassTargets(s.Truth.Keep(drawn))
}

// shares returns the shares of the classes in all points, for the parameter priors. Every draw has all classes.
func (s *loaded) shares() string {
	counts := make([]int, len(s.Truth.Classes))
	for _, c := range s.Truth.Index {
		counts[c]++
	}
	texts := make([]string, len(counts))
	for c, count := range counts {
		texts[c] = models.FormatFloat(float64(count) / float64(len(s.Truth.Index)))
	}
	return strings.Join(texts, ",")
}

// wrong returns the share of wrong classes among the points without a label, in percent.
func (s *loaded) wrong(drawn []int, classes []int32) float64 {
	wrong, asked := 0, 0
	for i, c := range classes {
		if _, given := slices.BinarySearch(drawn, i); given {
			continue
		}
		asked++
		if c != s.Truth.Index[i] {
			wrong++
		}
	}

	return 100 * float64(wrong) / float64(asked)
}
