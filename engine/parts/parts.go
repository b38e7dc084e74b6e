// Package parts finds the nearest neighbours of points that are too many for one search.
package parts

import (
	"context"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/prepared"
	"github.com/bigfit/bigfit/knn"
)

// Settings of a graph in parts.
type Settings struct {
	Parts   int        `json:"parts"`
	Overlap int        `json:"overlap"`
	K       int        `json:"k"`
	Metric  knn.Metric `json:"metric"`
	Method  knn.Method `json:"method"`
	Seed    uint64     `json:"seed"`
}

// width is the length of lists.
func (s *Settings) width() int { return s.K + spare }

// A Run makes a graph in parts.
type Run struct {
	s      Settings
	x      data.Points
	rows   *rows
	div    *division
	folder *folder
}

var _ = context.Background
var _ = prepared.Lengths
