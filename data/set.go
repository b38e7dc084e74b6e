package data

import (
	"fmt"
	"path/filepath"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/sparse"
)

// ReadFiles reads the points of several files as one set, the rows of one file after the rows
// of another; for one file it is [ReadPoints]. All must have the same number of columns
// and the same element type. Dense points become [Stored] ones, each file in its place;
// sparse ones are copied, and files in svmlight form count their indices from the same
// number. A value that is at fault is named by its file and its row there.
func ReadFiles(paths []string, opt ReadOptions) (Points, error) {
	if len(paths) == 1 {
		return ReadPoints(paths[0], opt)
	}
	s := &set{opt: opt}
	for _, path := range paths {
		if err := s.add(path); err != nil {
			return nil, err
		}
	}
	return s.points()
}

// set is the points of several files on the way.
type set struct {
	opt      ReadOptions
	first    string // the first file
	stored   []*Stored
	sparse   []*sparse.CSR
	svmlight *svmlight // of all files in this form
	held     int64     // bytes in memory
	check    bool      // values are to be checked
}

// add reads a file without looking at its values.
func (s *set) add(path string) error {
	src, key, err := openKey(path, s.opt.Key, s.opt.Limit)
	if err != nil {
		return err
	}
	defer src.Close()

	opt := s.opt
	opt.Key = key
	// Earlier files take their part of the limit.
	if opt.Limit > 0 {
		if opt.Limit -= s.held; opt.Limit <= 0 {
			return &npy.LimitError{What: path, Need: s.held + src.Size, Limit: s.opt.Limit}
		}
	}

	if s.first == "" {
		s.first = path
	}
	if src.format.name == FormatSVMLight {
		return s.addSVMLight(src)
	}
	// All files must be of one kind: sparse, or dense of one width and type.
	x, what, err := src.load(opt)
	if err != nil {
		return err
	}

	s.check = s.check || !src.format.text
	if m, ok := x.(*sparse.CSR); ok {
		return s.addSparse(src, m)
	}
	// Dense points of a file become one part of the set.
	one := AsStored(what, x)
	if len(s.stored) > 0 {
		if have := s.stored[0]; one.Cols != have.Cols || one.kind != have.kind {
			return s.differs(what, one.Cols, one.kind.String())
		}
	} else if s.sparse != nil || s.svmlight != nil {
		return s.differs(what, one.Cols, one.kind.String())
	}

	s.held += one.Held()
	s.stored = append(s.stored, one)
	return nil
}

// AsStored returns dense points as [Stored] ones, without a copy; what names their file, for errors.
func AsStored(what string, x Points) *Stored {
	switch x := x.(type) {
	case *Stored:
		return x
	case *Dense[float32]:
		return newStored(what, Float32, x.Rows, x.Cols, numbers.Bytes(x.Data))
	case *Dense[float64]:
		return newStored(what, Float64, x.Rows, x.Cols, numbers.Bytes(x.Data))
	case *Dense[uint8]:
		return newStored(what, Uint8, x.Rows, x.Cols, x.Data)
	}

	panic(fmt.Sprintf("data: unknown point set %T", x))
}

// differs is an error about a file that does not go with the first.
func (s *set) differs(what string, columns int, kind string) error {
	cols, first := 0, "sparse"
	switch {
	case len(s.stored) > 0:
		cols = s.stored[0].Cols
		first = s.stored[0].kind.String()
	case len(s.sparse) > 0:
		cols = s.sparse[0].Cols
	default:
		return fmt.Errorf("%s: it holds %d columns of %s, but %s is in svmlight form; all files of a "+
			"set must be of one kind", what, columns, kind, s.first)
	}
	return fmt.Errorf("%s: it holds %d columns of %s, but %s holds %d of %s; all files of a set must "+
		"have the same columns and type", what, columns, kind, s.first, cols, first)
}

func (s *set) addSparse(src *source, m *sparse.CSR) error {
	if len(s.stored) > 0 || s.svmlight != nil || len(s.sparse) > 0 && s.sparse[0].Cols != m.Cols {
		return s.differs(src.path, m.Cols, "sparse")
	}
	s.held += 12*int64(m.NNZ()) + 8*int64(m.Rows)
	s.sparse = append(s.sparse, m)
	return nil
}

func (s *set) addSVMLight(src *source) error {
	if len(s.stored) > 0 || len(s.sparse) > 0 {
		return fmt.Errorf("%s: it is in svmlight form, but %s is not; all files of a set must be of one kind",
			src.path, s.first)
	}
	if s.svmlight == nil {
		s.svmlight = newSVMLight()
	}
	// One reader for all files: whether indices count from 0 is decided by all of them together.
	before := s.svmlight.m.Rows
	if err := s.svmlight.readFile(src, s.opt.Limit); err != nil {
		return err
	}
	if s.svmlight.m.Rows == before {
		return src.fault("it holds no points")
	}
	return nil
}

// points joins what was read and checks its values.
func (s *set) points() (Points, error) {
	switch {
	case s.svmlight != nil:
		x, err := s.svmlight.points(s.opt)
		if err != nil {
			return nil, err
		}
		if n, d := x.Dims(); n == 0 || d == 0 {
			return nil, fmt.Errorf("%s: the files hold %d points of %d columns; at least one of each is "+
				"needed", s.first, n, d)
		}
		return checked(x, checkMagnitude(filepath.Dir(s.first), x))
	case len(s.sparse) > 0:
		if s.opt.Limit > 0 && 2*s.held > s.opt.Limit {
			return nil, &npy.LimitError{What: s.first + " and the files after it", Need: 2 * s.held,
				Limit: s.opt.Limit}
		}
		// The copy stands beside the matrices of the files.
		x := sparse.Stack(s.sparse...)
		return checked(x, checkMagnitude(filepath.Dir(s.first), x))
	}

	// Dense points stay where they are.
	x, err := Joined(s.stored...)
	if err != nil || s.opt.Unchecked || s.opt.AllowNaN {
		return checked(x, err)
	}

	if s.check {
		if err := x.checkFinite(s.first); err != nil {
			return nil, err
		}
	}
	return checked(x, checkMagnitude(filepath.Dir(s.first), x))
}

// checked returns x unless there is an error.
func checked(x Points, err error) (Points, error) {
	if err != nil {
		return nil, err
	}
	return x, nil
}
