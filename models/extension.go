package models

import (
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/knn"
)

// String returns the name used on the command line and in manifests.
func (e Extension) String() string { return enum.String(extensionNames, e) }

// MarshalText returns the name.
func (e Extension) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (e *Extension) UnmarshalText(text []byte) error {
	return enum.Set(e, extensionNames, "extension", text)
}

// Get returns the index of x, which the first call restores from st or, if that
// is nil, builds; Auto compares all pairs.
func (l *LazyIndex) Get(x data.Points, method knn.Method, st *knn.State, s *knn.DescentSettings) (knn.Index, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Ix != nil {
		return l.Ix, nil
	}
	var ix knn.Index
	var err error
	if st != nil {
		ix, err = knn.Restore(x, st, s)
	} else {
		if method == knn.Auto {
			method = knn.Brute
		}
		ix, err = knn.NewIndex(x, method, s)
	}
	if err != nil {
		return nil, err
	}
	l.Ix = ix
	return ix, nil
}
