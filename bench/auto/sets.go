package main

import (
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/models"
)

// loaded is a set in memory.
type loaded struct{ *sets.Loaded }

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
