package bigfit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// WithIDs returns the points with an id for each, in their order: ids[i] names row i. A model keeps the
// ids of its points, in its file too, so that labels can be given by id ([NamesByID]) and answers bear them.
// An empty id, an id that is there twice, and another number of ids than of points are faults.
func (p Points) WithIDs(ids []string) Points {
	if p.err != nil {
		return p
	}
	if p.set == nil {
		return Points{err: errNoPoints}
	}
	if n, _ := p.set.Dims(); n != len(ids) {
		return Points{err: fmt.Errorf("bigfit: %d ids for %d points", len(ids), n)}
	}
	named, err := data.NewIDs("bigfit: the ids", slices.Clone(ids))
	if err != nil {
		return Points{err: err}
	}
	return Points{set: p.set, ids: named}
}

// NamesByID takes the classes of some points by name, and the points by their ids ([Points.WithIDs]). In
// [Fit] all other points have no label. In [Model.Update] all other points keep theirs; "" takes the label
// of a point away.
func NamesByID(names map[string]string) Labels {
	ids := slices.Sorted(maps.Keys(names))
	of := make([]string, len(ids))
	for k, id := range ids {
		of[k] = names[id]
	}
	y := Names(of)
	y.ids = ids
	return y
}

// ClassesByID is [NamesByID] for classes that are integers; a negative number takes a label away.
func ClassesByID(classes map[string]int) Labels {
	ids := slices.Sorted(maps.Keys(classes))
	of := make([]int, len(ids))
	for k, id := range ids {
		of[k] = classes[id]
	}
	y := Classes(of)
	y.ids = ids
	return y
}

// ValuesByID is [NamesByID] for the values of a regression; NaN takes a value away.
func ValuesByID(values map[string]float64) Labels {
	ids := slices.Sorted(maps.Keys(values))
	of := make([]float64, len(ids))
	for k, id := range ids {
		of[k] = values[id]
	}
	y := Values(of)
	y.ids = ids
	return y
}

// placed returns labels by id as labels of all points, which have the given ids, and the points that they
// name, ascending. Labels by place stay as they are.
func (y Labels) placed(ids *data.IDs) (placed Labels, listed []int, err error) {
	if y.ids == nil {
		return y, nil, nil
	}
	if ids == nil {
		return Labels{}, nil, errors.New("bigfit: the labels are by id, and the points have no ids; give the points " +
			"ids by Points.WithIDs")
	}

	at := make([]int, len(y.ids))
	unknown := 0
	first := ""
	for k, id := range y.ids {
		row, ok := ids.Row(id)
		if !ok {
			if unknown++; unknown == 1 {
				first = id
			}
		}
		at[k] = row
	}
	if unknown > 0 {
		return Labels{}, nil, fmt.Errorf("bigfit: %d of %d ids of the labels are ids of no point, %q the first; the "+
			"points have ids as %q", unknown, len(y.ids), first, ids.Values[0])
	}

	listed = slices.Sorted(slices.Values(at))
	if y.classes != nil {
		all := *y.classes
		all.Index = slices.Repeat([]int32{data.Unlabeled}, ids.Len())
		for k, row := range at {
			all.Index[row] = y.classes.Index[k]
		}
		if y.weights == nil {
			return Labels{classes: &all}, listed, nil
		}
		if len(y.weights) != len(at) {
			return Labels{}, nil, fmt.Errorf("bigfit: %d weights for %d labels by id", len(y.weights), len(at))
		}
		weights := make([]float64, ids.Len())
		for k, row := range at {
			weights[row] = y.weights[k]
		}
		return Labels{classes: &all, weights: weights}, listed, nil
	}
	all := mat.NewDense(ids.Len(), 1, slices.Repeat([]float64{math.NaN()}, ids.Len()))
	for k, row := range at {
		all.Set(row, 0, y.values.At(k, 0))
	}
	return Labels{values: all}, listed, nil
}

// IDs returns the ids of the points of the model, in their order; nil if they have numbers only. A knn
// model that was loaded knows its labeled points alone.
func (m *Model) IDs() []string {
	if ids := m.ids(); ids != nil {
		return slices.Clone(ids.Values)
	}
	return nil
}

// ids returns the ids of the points that the model was fitted to, or of those that its file has.
func (m *Model) ids() *data.IDs {
	if m.input != nil && m.input.IDs != nil {
		return m.input.IDs
	}
	return models.IDsOf(m.model)
}

// idOf returns the id of point i, "" if there is none.
func idOf(ids *data.IDs, i int) string {
	if ids == nil || i >= ids.Len() {
		return ""
	}
	return ids.Values[i]
}

// rowsOf returns the numbers of the points with the given ids. what says what the ids are for.
func rowsOf(known *data.IDs, what string, ids []string) ([]int, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if known == nil {
		return nil, fmt.Errorf("bigfit: %s names points by id, and the points of the model have numbers only; fit it "+
			"to points with ids, by Points.WithIDs", what)
	}

	rows := make([]int, len(ids))
	seen := map[string]int{}
	for k, id := range ids {
		if before, twice := seen[id]; twice {
			return nil, fmt.Errorf("bigfit: %s: ids %d and %d are the same, %q", what, before, k, id)
		}
		seen[id] = k
		row, ok := known.Row(id)
		if !ok {
			return nil, fmt.Errorf("bigfit: %s: id %d, %q, is the id of no point of the model; its points have ids "+
				"as %q", what, k, id, known.Values[0])
		}
		rows[k] = row
	}
	return rows, nil
}

// Forget returns a model without the points that have these ids: they leave the points, the labels, the
// lists of neighbours and the answers, and the points behind them move up. m does not change. It is an
// update, for the models of [Model.Update]. An id of no point, and one that is there twice, are errors.
func (m *Model) Forget(ctx context.Context, ids ...string) (updated *Model, err error) {
	defer plain(&err)
	if len(ids) == 0 {
		return nil, errors.New("bigfit: Forget names no points")
	}
	rows, err := rowsOf(models.IDsOf(m.model), "Forget", ids)
	if err != nil {
		return nil, err
	}
	slices.Sort(rows)
	return m.update(ctx, &pipeline.Growth{Forget: rows})
}
