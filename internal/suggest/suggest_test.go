package suggest

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"auto", "eigenmap", "lgc", "laprls", "svm", "svr", "rls-linear"}
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
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Nearest(c.name, names); !slices.Equal(got, c.want) {
				t.Errorf("nearest to %q: %v, want %v", c.name, got, c.want)
			}
		})
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	names := []string{"svm", "svr"}
	if got := DidYouMean("", "svx", names); got != "; did you mean svm or svr?" {
		t.Errorf("%q", got)
	}
	if got := DidYouMean("--", "svx", names); got != "; did you mean --svm or --svr?" {
		t.Errorf("%q", got)
	}
	if got := DidYouMean("", "kernel", names); got != "" {
		t.Errorf("%q", got)
	}
}
