package papers

import (
	"context"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
)

// On drawn digits the graph helps, on the points of the graph and on others.
func TestLandmarks(t *testing.T) {
	x, truth := synthetic.Digits(3000, 3)
	xt, truthT := synthetic.Digits(300, 4)
	run := landmarkRun{landmarks: 300, labels: 60, draws: 3, dimensions: 20, gammaA: []float64{1e-7, 1e-4}, gammaI: []float64{1e-3, 1e-2, 0.1}}
	records, err := run.images(context.Background(), Options{}, &digitImages{"drawn", x, xt, truth, truthT}, &observer{t: t})
	if err != nil {
		t.Fatal(err)
	}
	errs := map[string]float64{}
	table := MachineTable(records)
	for _, r := range records {
		errs[table.Value(r, "row").Text+" "+table.Value(r, "method").Text] = table.Value(r, "error_mean").Number
	}
	if len(errs) != 4 || len(table.Remarks()) != 2 {
		t.Fatalf("%s", table.Markdown())
	}
	for _, row := range []string{"unlabeled, images drawn", "test, images drawn"} {
		if lap, plain := errs[row+" LapRLS"], errs[row+" RLS"]; !(lap < plain-3) || !(lap < 28) {
			t.Errorf("%s: %.1f %% with the graph, %.1f %% without", row, lap, plain)
		}
	}
}
