package parts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/par"
)

// The division copies the points into the folder, in the order of its numbers: part by part, and in
// a part by the second part. Points that are compared with each other then lie in a few stretches of
// the files. In the files of the user they may lie anywhere, so that a part would read a page of the
// disk for every row.
//
// The points are read once, and every row is appended to a file of its nearest part. Then each of
// these files, which fit the memory, is sorted and written as it stays. So the points are written
// twice and never sought.

// unsorted is the folder of the rows of each part in the order of the points of the user.
const unsorted = "unsorted"

// appendBytes returns the memory of the rows of all parts that wait to be appended: a sixteenth of the
// points, within bounds.
func appendBytes(x data.Points) int64 {
	n, _ := x.Dims()
	return min(64<<20, max(1<<20, int64(n)*rowBytes(x)/16))
}

// copyBytes returns the memory that copying points takes, where the largest part has m of them: first
// that of rows that wait, then that of a part and its rows in order.
func copyBytes(x data.Points, m int) int64 { return max(appendBytes(x), 2*int64(m)*rowBytes(x)) }

// rowBytes returns the bytes of a point of x in its file.
func rowBytes(x data.Points) int64 {
	_, d := x.Dims()
	return int64(d) * int64(data.AsStored("", x).Kind().Size())
}

// copyPoints writes the points of every part into the folder. nearest returns the nearest part of
// the points of x, in their order.
func (r *Run) copyPoints(ctx context.Context, div *division, nearest func(i int) int) error {
	dir := r.folder.Path(unsorted)
	if err := os.RemoveAll(dir); err != nil { // of a run that was killed
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	if err := r.spread(ctx, dir, nearest); err != nil {
		return err
	}
	for p := range r.s.Parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if div.Own[p] == 0 {
			continue
		}
		if err := r.sortCopy(dir, div, p); err != nil {
			return err
		}
	}
	return nil
}

func unsortedPath(dir string, p int) string { return filepath.Join(dir, fmt.Sprintf("%05d", p)) }

// spread appends every row of the points to a file of its nearest part in dir.
func (r *Run) spread(ctx context.Context, dir string, nearest func(i int) int) error {
	waiting := make([][]byte, r.s.Parts)
	most := int(appendBytes(r.x)) / r.s.Parts
	flush := func(p int) error {
		if len(waiting[p]) == 0 {
			return nil
		}
		// There may be more parts than files that can be open at a time.
		f, err := os.OpenFile(unsortedPath(dir, p), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return err
		}
		_, err = f.Write(waiting[p])
		waiting[p] = waiting[p][:0]
		if closed := f.Close(); err == nil {
			err = closed
		}
		return err
	}

	x := data.AsStored("", r.x)
	size := int(rowBytes(x))
	err := data.Each(x, gatherBlock, func(lo, hi int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		i := lo
		for _, piece := range x.Slice(lo, hi).Raw().Parts {
			for ; len(piece) > 0; piece = piece[size:] {
				p := nearest(i)
				i++
				waiting[p] = append(waiting[p], piece[:size]...)
				if len(waiting[p]) < most {
					continue
				}
				if err := flush(p); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for p := range waiting {
		if err == nil {
			err = flush(p)
		}
	}
	return err
}

// sortCopy writes the points of part p in the order of their numbers, and removes the unsorted ones.
func (r *Run) sortCopy(dir string, div *division, p int) error {
	path := unsortedPath(dir, p)
	rows, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	size := int(rowBytes(r.x))
	own := div.order[div.start[p]:div.start[p+1]]
	if len(rows) != size*len(own) {
		return fmt.Errorf("%s: it holds %d bytes of %d: another run writes to %s; let one of them end",
			path, len(rows), size*len(own), r.folder.Path(""))
	}

	// The rows came in the order of the points of the user.
	came := slices.Sorted(slices.Values(own))
	sorted := make([]byte, len(rows))
	par.For(len(own), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, _ := slices.BinarySearch(came, own[i])
			copy(sorted[i*size:][:size], rows[at*size:])
		}
	})
	kind := data.AsStored("", r.x).Kind().String()
	err = r.folder.save(copyName(p), tableState{Rows: len(own), Width: div.D}, archive.Raw{DType: kind, Parts: [][]byte{sorted}})
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// copies returns the points in the order of their numbers.
func (r *Run) copies(div *division) (data.Points, error) {
	var paths []string
	for p, own := range div.Own {
		if own > 0 {
			paths = append(paths, r.folder.Path(copyName(p)+".npy"))
		}
	}
	x, err := data.ReadFiles(paths, data.ReadOptions{Unchecked: true, Columns: div.D})
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, r.folder.Remedy)
	}
	if n, _ := x.Dims(); n != div.N {
		return nil, fmt.Errorf("%s: copies of %d points of %d; %s", r.folder.Path(""), n, div.N, r.folder.Remedy)
	}
	return x, nil
}

// checkCopies returns an error unless the copies of all points are those that the division wrote.
// A job of one part does not read so much.
func (r *Run) checkCopies() error {
	x := data.AsStored("", r.rows.x)
	first := 0
	for p, own := range r.div.Own {
		if own == 0 {
			continue
		}
		var t tableState
		if _, err := r.folder.Load(copyName(p)+".npz", r.folder.key, &t); err != nil {
			return err
		}
		part := x.Slice(first, first+own)
		sum, err := npy.Sum([]archive.Array{{Name: copyName(p), Shape: []int{own, r.div.D}, Data: part.Raw()}})
		if err != nil {
			return err
		}
		data.Release(x, first, first+own)
		first += own
		if err := r.folder.checkSum(copyName(p), sum, t.Sum); err != nil {
			return err
		}
	}
	return nil
}
