package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
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

// readHalf reads a set, half of its columns, or two classes made of its classes.
func readHalf(name string, limit int) (*sets.Loaded, error) {
	if of, number, two := strings.Cut(name, "#"); two {
		k, err := strconv.Atoi(number)
		if err != nil || k < 0 || k >= twoClassSets {
			return nil, fmt.Errorf("-sets: %s: %q is not a number from 0 to %d", name, number, twoClassSets-1)
		}
		s, err := readHalf(of, 8*limit)
		if err != nil {
			return nil, err
		}
		if len(s.Truth.Classes) < 3 {
			return nil, fmt.Errorf("-sets: %s has %d classes, and two are made of three and more", of, len(s.Truth.Classes))
		}
		return twoClasses(s, k, limit), nil
	}
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

// twoClassSets is the number of sets that twoClasses makes of one.
const twoClassSets = 8

// twoClasses returns a set of two classes, number k of those that are made of the classes of s. The first class has 50, 50, 25, 25,
// 10, 10, 80 or 80 % of the points. Even numbers have one class of s each, odd ones some of eight classes and the rest of these.
func twoClasses(s *sets.Loaded, k, limit int) *sets.Loaded {
	rng := rand.New(rand.NewPCG(uint64(k), 7))
	share := [...]float64{0.5, 0.25, 0.1, 0.8}[k/2]
	order := rng.Perm(len(s.Truth.Classes))
	first, all := 1, 2
	if k%2 == 1 {
		all = min(len(order), 8)
		first = 1 + rng.IntN(all/2)
	}

	var of [2][]int // the points of both classes
	for i, c := range s.Truth.Index {
		if at := slices.Index(order, int(c)); at < first {
			of[0] = append(of[0], i)
		} else if at < all {
			of[1] = append(of[1], i)
		}
	}
	n := min(float64(len(of[0]))/share, float64(len(of[1]))/(1-share))
	if limit > 0 {
		n = min(n, float64(limit))
	}
	truth := &data.Labels{Classes: []int64{0, 1}}
	var rows []int
	index := map[int]int32{}
	for c, count := range []int{int(n * share), int(n * (1 - share))} {
		rng.Shuffle(len(of[c]), func(i, j int) { of[c][i], of[c][j] = of[c][j], of[c][i] })
		for _, i := range of[c][:count] {
			rows = append(rows, i)
			index[i] = int32(c)
		}
	}
	slices.Sort(rows)
	out := &sets.Loaded{Set: s.Set, X: data.Select(s.X, rows), Truth: truth}
	out.Name = fmt.Sprintf("%s#%d", s.Name, k)
	for _, i := range rows {
		truth.Index = append(truth.Index, index[i])
		out.Rows = append(out.Rows, s.Rows[i])
	}
	return out
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
