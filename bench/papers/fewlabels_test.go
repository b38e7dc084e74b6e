package papers

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/pipeline"
)

func TestFewLabels(t *testing.T) {
	x, truth := synthetic.Digits(500, 3)
	settings, err := pipeline.AutoGraph(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Two draws of one and of two labels a class, the first of each class in another order.
	var draws [][][]int
	for labels := 1; labels <= 2; labels++ {
		var of [][]int
		for d := range 2 {
			var rows []int
			for c := range truth.Classes {
				found := 0
				for i := d * 250; found < labels; i++ {
					if truth.Index[i] == int32(c) {
						rows = append(rows, i)
						found++
					}
				}
			}
			of = append(of, rows)
		}
		draws = append(draws, of)
	}

	e := &FewLabels{X: x, Truth: truth, Graph: settings, Draws: draws, Labels: []int{2}, Methods: FewMethods}
	table, err := e.Run(t.Context(), &observer{t: t})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Records) != len(FewMethods) {
		t.Fatalf("%d records of %d methods", len(table.Records), len(FewMethods))
	}
	for i, r := range table.Records {
		wrong := table.Value(r, "error_mean")
		if !(wrong.Number >= 0 && wrong.Number < 60) {
			t.Errorf("%s: error %v", FewMethods[i].Name, wrong.Number)
		}
		if paper := FewMethods[i].Paper; paper == nil && !math.IsNaN(wrong.Published) || paper != nil && wrong.Published != paper[1] {
			t.Errorf("%s: the published figure is %v", FewMethods[i].Name, wrong.Published)
		}
	}

	// Sizes that are known are worth something.
	of := func(name string) float64 {
		i := slices.IndexFunc(FewMethods, func(m FewMethod) bool { return m.Name == name })
		return table.Value(table.Records[i], "error_mean").Number
	}
	if !(of("poisson-mbo, true sizes") < of("poisson")) {
		t.Errorf("poisson-mbo with true sizes errs %v, poisson %v", of("poisson-mbo, true sizes"), of("poisson"))
	}
}

func TestReadDraws(t *testing.T) {
	path := filepath.Join(t.TempDir(), "draws.npz")
	write := func(last int32) {
		t.Helper()
		var arrays []archive.Array
		for l := 1; l <= 5; l++ {
			rows := make([]int32, 3*2*l)
			for i := range rows {
				rows[i] = int32(i)
			}
			rows[len(rows)-1] = last
			arrays = append(arrays, archive.Array{Name: "l" + string(rune('0'+l)), Shape: []int{3, 2 * l}, Data: rows})
		}
		if err := npy.WriteArchive(path, arrays); err != nil {
			t.Fatal(err)
		}
	}

	write(7)
	draws, err := readDraws(path, 2, 30, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(draws) != 5 || len(draws[4]) != 2 || !slices.Equal(draws[1][1], []int{4, 5, 6, 7}) {
		t.Errorf("draws %v", draws)
	}
	write(30)
	if _, err := readDraws(path, 3, 30, 0); err == nil || !strings.Contains(err.Error(), "row 30 of 30 points") {
		t.Errorf("a row behind the last: %v", err)
	}
}
