// Package parts makes the graph of nearest neighbours of more points than one search can hold: on
// one machine in bounded memory, part after part, or by independent jobs on many machines.
//
// Centres of a sample cut space into cells ([centres]). Every point is in the cells of its nearest
// centres, so that near points share at least one cell more often than not. Offsets of the centres
// balance the sizes of the cells, and a part that is full sends points to the next one. Each part
// is searched alone. Then every point is compared with the neighbours of its neighbours in all of
// its lists, as NN-descent does (Dong, Moses & Li, WWW 2011): this local join finds neighbours
// across borders, and neighbours that the quick search of a part has missed.
//
// The rows of all parts have one mean and scale, so a pair has the same distance in float32 wherever
// it is measured, and lists are merged without the points. Lists are in the order (distance,
// number), by which a pair that comes twice is recognized.
//
// Everything is kept in a folder (drawn in work.go): centres and parts of the points, copies of the
// points part by part (copies.go), lists of each part, final lists, weights. A file is written whole
// or not at all, and its content depends on the division and its part alone. So a run that was killed
// goes on, parts may be made in any order, by any number of processes and more than once, and the
// graph has the same bits (on machines of the same instruction set).
package parts

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Settings are the settings of a graph in parts.
type Settings struct {
	// Parts is the number of parts, from 2 to MaxParts.
	Parts int `json:"parts"`
	// Overlap is the number of parts that a point is in, from 2 to 8 and at most Parts.
	Overlap int `json:"overlap"`
	// Metric is one of vectors or directions: Euclidean, Angle or Cosine.
	Metric knn.Metric `json:"metric"`
	// Method searches a part. Auto compares all pairs of a part of up to 8192 points and
	// takes NN-descent for a larger one.
	Method knn.Method `json:"method"`
	// Graph has K neighbours of each point, and no radius.
	Graph knn.GraphSettings `json:"graph"`
	// Seed determines centres, trees and the sample by which the recall is estimated.
	Seed uint64 `json:"seed"`
}

// MaxParts is the largest number of parts.
const MaxParts = 1 << 14

// width returns the length of the lists of a part.
func (s *Settings) width() int { return s.Graph.K + spare }

// divisible are the metrics under which the points of a part have a mean.
var divisible = knn.Metrics(knn.Vectors, knn.Directions)

// check returns an error if the settings do not fit the points x.
func (s *Settings) check(x data.Points) error {
	n, d := x.Dims()
	_, isSparse := x.(*sparse.CSR)
	switch {
	case isSparse:
		return fmt.Errorf("a graph in parts is one of dense points, and these are sparse; leave %s out",
			param.Name("parts"))
	case !slices.Contains(divisible, s.Metric):
		return fmt.Errorf("a graph in parts takes the distance %s, not %v; leave %s out",
			enum.Or(divisible), s.Metric, param.Name("parts"))
	case s.Graph.Radius > 0 || s.Graph.K < 1:
		return fmt.Errorf("a graph in parts joins nearest neighbours; give %s and no %s",
			param.Name("neighbors"), param.Name("radius"))
	case s.Parts < 2 || s.Parts > MaxParts:
		return fmt.Errorf("%s is %d; it must be between 2 and %d", param.Name("parts"), s.Parts, MaxParts)
	case s.Overlap < 2 || s.Overlap > min(8, s.Parts):
		return fmt.Errorf("%s is %d; it must be between 2 and %d, as parts without common points would not be joined",
			param.Name("overlap"), s.Overlap, min(8, s.Parts))
	case n > math.MaxInt32 || d < 1:
		return fmt.Errorf("%d points of %d columns; a graph has at most %d points", n, d, math.MaxInt32)
	case int64(n)*int64(s.Overlap) < 2*int64(s.Parts)*int64(s.width()):
		return fmt.Errorf("%s is %d: a part of %d points would have about %d of them, "+
			"too few for %d neighbours; take at most %d parts",
			param.Name("parts"), s.Parts, n, n*s.Overlap/s.Parts, s.Graph.K, n*s.Overlap/(2*s.width()))
	}
	return s.Method.Supports(s.Metric, x)
}

// A Run makes a graph in parts in a folder. It is for one goroutine.
type Run struct {
	s        Settings
	x        data.Points
	files    []string
	observed stage.Observer
	folder   *folder
	rows     *rows     // nil before the division
	div      *division // nil before the division
	round    int       // of the exchange, from 1
}

// Input holds points and the names of their files. A run keeps the names for [Made].
type Input struct {
	X     data.Points
	Files []string
}

// Open begins a run in the folder dir or goes on with it. A folder made with other points or
// settings is an error. A positive memory bounds the bytes of the files that are read at a time;
// write is called to write them, as for [checkpoint.Open].
func Open(dir string, in Input, s Settings, memory int64, o stage.Observer,
	write func(func() error) error) (*Run, error) {
	x := in.X
	if err := s.check(x); err != nil {
		return nil, err
	}
	f, err := openFolder(dir, memory, write)
	if err != nil {
		return nil, err
	}
	r := &Run{s: s, x: x, files: in.Files, observed: o, folder: f}
	f.Inputs["points"] = data.HashSample(x) // a job reads a sample; CheckPoints reads all points
	if f.key, err = f.Key(s, "points"); err != nil {
		return nil, err
	}
	return r, r.loadDivision()
}

// openFolder opens the work folder dir, which need not exist yet.
func openFolder(dir string, memory int64, write func(func() error) error) (*folder, error) {
	c, err := checkpoint.Open(dir, "a graph in parts", true, memory, write)
	if err != nil {
		return nil, err
	}
	c.Remedy = fmt.Sprintf("give another %s folder, or remove this one to begin anew", param.Name("work"))
	return &folder{Folder: c, open: map[string]any{}}, nil
}

// Made returns the settings with which the run in a folder was begun, and the files of its points.
func Made(dir string) (s Settings, files []string, err error) {
	if _, err := os.Stat(filepath.Join(dir, divisionFile)); err != nil {
		return s, nil, fmt.Errorf("%s holds no graph in parts yet; begin one with the points, %s and %s %s",
			dir, param.Name("parts"), param.Name("work"), dir)
	}
	f, err := openFolder(dir, 0, nil)
	if err != nil {
		return s, nil, err
	}
	if f.key, err = f.Made(divisionFile); err != nil {
		return s, nil, err
	}

	// The key has the settings as JSON, field by field, beside the hashes of inputs.
	var fields []string
	for name, value := range f.key {
		if !strings.HasPrefix(name, "hash of ") {
			fields = append(fields, fmt.Sprintf("%q:%s", name, value))
		}
	}
	if err := decode("{"+strings.Join(fields, ",")+"}", &s); err != nil {
		return s, nil, fmt.Errorf("%s: %w", f.Path(divisionFile), err)
	}

	var state divisionState
	_, err = f.Load(divisionFile, f.key, &state)
	return s, state.Files, err
}

// loadDivision reads the division, if it is in the folder, and checks it against settings and
// points.
func (r *Run) loadDivision() error {
	div := &division{}
	arrays, err := r.folder.Load(divisionFile, r.folder.key, &div.divisionState)
	if err != nil || arrays == nil {
		return err
	}
	if len(div.Sizes) != r.s.Parts || len(div.Own) != r.s.Parts {
		return fmt.Errorf("%s: sizes of %d and %d parts instead of %d; %s",
			r.folder.Path(divisionFile), len(div.Sizes), len(div.Own), r.s.Parts, r.folder.Remedy)
	}

	// Angles are between points that are not centred: they have no mean.
	if mean := checkpoint.Elements[float64](arrays, "mean"); len(mean) > 0 {
		div.scaling.Mean = mean
	}
	div.scaling.Scale = div.Scale
	if n, d := r.x.Dims(); div.N != n || div.D != d || div.scaling.Mean != nil && len(div.scaling.Mean) != d {
		return fmt.Errorf("%s: parts of %d points of %d columns, and %d of %d are given; %s",
			r.folder.Path(divisionFile), div.N, div.D, n, d, r.folder.Remedy)
	}

	if div.of, _, err = load[uint16](r.folder, assigned); err != nil {
		return err
	}
	if len(div.of) != div.N*r.s.Overlap {
		return fmt.Errorf("%s: %d parts of %d points; %s", r.folder.Path(assigned), len(div.of), div.N, r.folder.Remedy)
	}
	if div.order, _, err = load[uint32](r.folder, orderName); err != nil {
		return err
	}
	if len(div.order) != div.N {
		return fmt.Errorf("%s: an order of %d of %d points; %s", r.folder.Path(orderName), len(div.order), div.N, r.folder.Remedy)
	}
	div.starts()
	copied, err := r.copies(div)
	if err != nil {
		return err
	}
	r.div = div
	r.rows = newRows(copied, &div.scaling)
	r.rows.order = div.order
	return nil
}

// Divided reports whether the points are divided.
func (r *Run) Divided() bool { return r.div != nil }

// CheckPoints reads all points and returns an error unless they are the points that were divided.
func (r *Run) CheckPoints() error {
	if r.div == nil || data.HashPoints(r.x) == r.div.Hash {
		return nil
	}
	return fmt.Errorf("the points have changed since %s was made: their hash is another one; %s",
		r.folder.Path(divisionFile), r.folder.Remedy)
}

// Hash returns [data.HashPoints] of the points that were divided.
func (r *Run) Hash() string { return r.div.Hash }

// Divide assigns every point to its parts and writes the division, unless it is in the folder.
func (r *Run) Divide(ctx context.Context) error {
	if r.div != nil {
		return nil
	}
	_, d := r.x.Dims()
	cost := stage.Cost{Bytes: divideBytes(r.x, &r.s), Remedy: fmt.Sprintf("take fewer %s", param.Name("parts"))}
	if err := r.observed.Announce("division", cost); err != nil {
		return err
	}

	r.observed.Begin("division")
	form := prepared.Lengths
	if r.s.Metric.Space() == knn.Directions {
		form = prepared.Angles
	}
	scaling, err := prepared.NewScaling(r.x, form)
	if err != nil {
		return err
	}
	div, err := divide(ctx, newRows(r.x, scaling), &r.s)
	if err != nil {
		return err
	}

	// All is written before the file that says that the points are divided.
	div.Files = r.files
	div.Hash = data.HashPoints(r.x)
	div.Scale = scaling.Scale
	err = div.arrange(func() error {
		return r.copyPoints(ctx, div, func(i int) int { return int(div.of[i*r.s.Overlap]) })
	})
	if err != nil {
		return err
	}
	if err := save(r.folder, orderName, 1, div.order); err != nil {
		return err
	}
	if err := save(r.folder, assigned, r.s.Overlap, div.of); err != nil {
		return err
	}
	err = r.folder.Save(divisionFile, r.folder.key, div.divisionState,
		archive.Array{Name: "mean", Data: div.scaling.Mean},
		archive.Array{Name: "centres", Shape: []int{r.s.Parts, d}, Data: div.centres.at},
		archive.Array{Name: "offsets", Data: div.centres.offset})
	if err != nil {
		return err
	}
	r.observed.End(fmt.Sprintf("%d parts of %d to %d points",
		r.s.Parts, slices.Min(div.Sizes), slices.Max(div.Sizes)))
	return r.loadDivision()
}

// Missing returns the numbers of the parts that have no lists in the folder. None are missing once they are merged.
func (r *Run) Missing() (missing []int, err error) {
	if merged, err := r.allMerged(); err != nil || merged {
		return nil, err
	}
	for p := range r.s.Parts {
		there, err := r.folder.has(partName(p))
		if err != nil {
			return nil, err
		}
		if !there {
			missing = append(missing, p)
		}
	}
	return missing, nil
}

// Search finds the lists of some parts. Parts that have lists already are left out.
func (r *Run) Search(ctx context.Context, parts []int) error {
	missing, err := r.Missing()
	if err != nil {
		return err
	}

	parts = slices.DeleteFunc(slices.Clone(parts), func(p int) bool { return !slices.Contains(missing, p) })

	if len(parts) == 0 {
		return nil
	}
	largest := 0
	total := 0.0
	for _, p := range parts {
		largest = max(largest, r.div.Sizes[p])
		total += searchOperations(r.div.Sizes[p], r.div.D, &r.s)
	}
	// One part is searched after the other, so the largest says how much memory is needed.
	cost := stage.Cost{Bytes: searchBytes(r.x, largest, &r.s), Operations: total,
		Remedy: fmt.Sprintf("take more %s", param.Name("parts"))}
	if err := r.observed.Announce("neighbours in parts", cost); err != nil {
		return err
	}

	r.observed.Begin("parts")
	for at, p := range parts {
		r.observed.Update(float64(at), float64(len(parts)), fmt.Sprintf("part %d", p))
		table, err := searchPart(ctx, r.rows, &r.s, r.div.members(p))
		if err != nil {
			return err
		}
		if err := save(r.folder, partName(p), 2*r.s.width(), table); err != nil {
			return err
		}

		// The rows of this part are collected before the next part reads its rows.
		table = nil
		runtime.GC()
	}
	r.observed.End(fmt.Sprintf("%d of %d parts made, %d were there",
		len(parts), r.s.Parts, r.s.Parts-len(missing)))
	return nil
}
