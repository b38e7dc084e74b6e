package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// Our answer against itself is without fault; a peer's that is a little off is
// not.
func TestJudge(t *testing.T) {
	for _, d := range []int{1, 4} {
		folder := t.TempDir()
		task, err := waves(d)(t.Context(), folder, 200)
		if err != nil {
			t.Fatal(err)
		}
		line, err := task.measure(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		v, err := readValues(answerOf(folder, ours))
		if err != nil {
			t.Fatal(err)
		}
		peer := maps.Clone(line)
		peer["peer"] = "LIBSVM"
		judge := func() string {
			if err := npy.WriteFile(answerOf(folder, "LIBSVM"), nil, v); err != nil {
				t.Fatal(err)
			}
			faults, err := task.judge(folder, []map[string]any{line, peer})
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(faults, "\n")
		}
		if found := judge(); found != "" || peer["support_of_one_alone"] != 0 || peer["objective_above_ours"] != 0.0 {
			t.Errorf("the same answer: %s, %v", found, peer)
		}
		v[0] += 0.1
		if found := judge(); !strings.Contains(found, "constraints") || !strings.Contains(found, "objective") {
			t.Errorf("a coefficient is 0.1 larger: %q", found)
		}
		// A pair of points far from the margin, by too little to show in the
		// objective.
		v[0] -= 0.1
		_, margin := task.mustDual(t, folder).evaluate(v, line["bias"].(float64))
		var pair []int
		for i, a := range v {
			if a == 0 && margin[i] > 100*tolerance {
				pair = append(pair, i)
			}
		}
		if len(pair) < 2 {
			t.Fatalf("%d points are off the margin", len(pair))
		}
		v[pair[0]], v[pair[1]] = 1e-8, -1e-8
		if found := judge(); !strings.Contains(found, "margin") || strings.Contains(found, "objective") {
			t.Errorf("two support vectors more: %q", found)
		}
	}
}

func (t *task) mustDual(tb testing.TB, folder string) *dual {
	d, err := t.newDual(folder)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
