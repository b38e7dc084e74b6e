package models

import (
	"slices"
	"testing"
)

// fixed is a model of two classes that does nothing.
type fixed struct{ Model }

func (fixed) Output() Output { return OutputOf([]int64{0, 1}, 2) }

// kept is one that keeps its answers.
type kept struct{ fixed }

func (kept) Training(bool) *Prediction { return &Prediction{Classes: []int32{1}} }

func TestWithNames(t *testing.T) {
	names := []string{"cat", "dog"}
	for _, m := range []Model{fixed{}, kept{}} {
		if same, err := WithNames(m, nil); err != nil || same != m {
			t.Errorf("%T without names is %T (%v)", m, same, err)
		}
		n, err := WithNames(m, names)
		if err != nil || !slices.Equal(n.Output().Names, names) || Unnamed(n) != m {
			t.Errorf("%T with names: %+v (%v)", m, n, err)
		}
		_, was := m.(Trained)
		if tr, is := n.(Trained); is != was || is && tr.Training(false).Classes[0] != 1 {
			t.Errorf("%T with names keeps answers: %v, without: %v", m, is, was)
		}
	}
	for _, bad := range [][]string{{}, {"cat"}, {"cat", "cat"}} {
		if _, err := WithNames(fixed{}, bad); err == nil {
			t.Errorf("two classes were called %q", bad)
		}
	}
}
