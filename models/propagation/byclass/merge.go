package byclass

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/num/par"
)

// keyOf is the key of part p.
func (r *Run) keyOf(p int) checkpoint.Key {
	k := checkpoint.Key{"part": strconv.Itoa(p)}
	for name, v := range r.key() {
		k[name] = v
	}
	return k
}

// Release lets go of the blocks that parts use one after the other, and of the graph in order. A part that
// follows makes and opens them again.
func (r *Run) Release() {
	r.blocks = nil
	r.out = nil
	r.graph = nil
	r.factor = nil
	r.weight = nil
}

// Merge returns the best classes of all points. With a part missing the error is a [*checkpoint.MissingError].
func (r *Run) Merge(ctx context.Context) (*Answers, error) {
	if missing := r.Missing(); missing != nil {
		return nil, &checkpoint.MissingError{Missing: missing, Parts: r.in.Parts, Folder: r.folder.Path("")}
	}
	r.Release()
	all := newBest(r.n)
	all.reset()
	out := &Answers{}
	for p := range r.in.Parts {
		r.report(float64(p), float64(r.in.Parts), "best classes of part %d", p)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one, s, err := r.load(p)
		if err != nil {
			return nil, err
		}
		out.Residual = max(out.Residual, s.Residual)
		out.Steps = max(out.Steps, s.Steps)
		par.For(r.n, rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if one.Class[i] >= 0 {
					all.take(i, one.Score[i], one.Class[i], one.Sum[i])
				}
			}
		})
	}

	if err := r.loadOrder(); err != nil {
		return nil, err
	}
	r.answers(out, all)
	return out, nil
}

// load reads the stage of part p, which is there.
func (r *Run) load(p int) (*best, *partState, error) {
	s := &partState{}
	arrays, err := r.folder.Load(partName(p), r.keyOf(p), s)
	if err != nil {
		return nil, nil, err
	}
	b := &best{checkpoint.Elements[float32](arrays, "score"), checkpoint.Elements[int32](arrays, "class"),
		checkpoint.Elements[float32](arrays, "sum")}
	lo, hi := r.Classes(p)
	fault := len(b.Score) != r.n || len(b.Class) != r.n || len(b.Sum) != r.n
	for i := 0; i < r.n && !fault; i++ {
		c := int(b.Class[i])
		fault = c < -1 || c >= 0 && c < lo || c >= hi
	}
	if fault {
		return nil, nil, fmt.Errorf("%s: not the best of classes %d to %d at %d points; remove it and make it again",
			r.folder.Path(partName(p)), lo, hi-1, r.n)
	}
	return b, s, nil
}

// answers makes the answers, in the order of the points.
func (r *Run) answers(out *Answers, all *best) {
	t := r.in.Targets
	out.Labels = make([]int32, r.n)
	out.Shares = make([]float32, r.n)
	frequent := t.Majority()
	for place, i := range r.order {
		c := all.Class[place]
		if c < 0 {
			out.Unreached++
			out.Labels[i] = frequent
			continue
		}
		out.Labels[i] = c
		if sum := all.Sum[place]; sum > 0 {
			out.Shares[i] = max(all.Score[place], 0) / sum
		}
	}
	if t.Soft {
		return
	}
	for q, i := range t.Labeled {
		out.Labels[i] = int32(t.Class(q))
	}
}
