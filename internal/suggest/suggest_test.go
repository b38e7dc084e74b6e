package suggest

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	models := []string{"auto", "eigenmap", "harmonic", "lgc", "laprls", "lapsvm", "knn", "rls", "svm", "svr", "tsvm-linear"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"lcg", []string{"lgc"}},
		{"lap-rls", []string{"laprls"}},
		{"LGC", []string{"lgc"}},
		{"eigenmaps", []string{"eigenmap"}},
		{"eig", []string{"eigenmap"}}, // goes on
		{"svn", []string{"svm", "svr"}},
		{"svx", []string{"svm", "svr"}},
		{"x", nil},
		{"", nil},
		{"transformer", nil},
	} {
		if got := Nearest(c.name, models); !slices.Equal(got, c.want) {
			t.Errorf("nearest to %q: %v, want %v", c.name, got, c.want)
		}
	}
	if got := DidYouMean("svx", models); got != "; did you mean svm or svr?" {
		t.Errorf("%q", got)
	}
}
