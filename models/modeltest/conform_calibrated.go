package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/models"
)

// someCalibration is one that fits the output of a model; nil where none can.
func someCalibration(o models.Output) *calibration.Calibration {
	switch c := len(o.Classes); {
	case o.Kind == models.OutputClasses:
		given := &calibration.Calibration{Folds: 5, Held: 20,
			Classes: &calibration.Classes{Temperature: 1.5, Vanishing: 1e-12,
				Priors: slices.Repeat([]float64{1 / float64(c)}, c), Knots: [][2]float64{{0.1, 0}, {0.9, 1}}}}

		// Only two classes have a threshold between them.
		if c == 2 {
			at := -0.25
			given.BreakEven = &at
		}
		return given
	case o.Kind == models.OutputValues:
		// Twelve residuals, 0 to 11 in the first column, so that half of them lie within 6.
		r := mat.NewDense(12, o.Columns, nil)
		for i := range 12 {
			for j := range o.Columns {
				r.Set(i, j, float64(i*(j+1)))
			}
		}
		return &calibration.Calibration{Folds: 4, Held: 12, Intervals: &calibration.Intervals{Residuals: r}}
	}

	return nil
}

// checkCalibrated: a model with a calibration gives the same answers, with probabilities of classes
// for new points and for training points; saved and loaded it is the same, and damage to the
// calibration in its file is an error.
func (c *checker) checkCalibrated() {
	c.each(func(k kind) {
		m := c.fit(k.name, c.input(blobs(sampleSize, false, 1), k))
		given := someCalibration(m.Output())
		if given == nil {
			return
		}
		with, err := models.WithCalibration(m, given)
		c.must(k.name, "WithCalibration", err)
		if d := difference(c.ask(k.name, m, queries(false)), c.ask(k.name, with, queries(false)),
			0); d != "" {
			c.fault(k.name, "a calibration changes the answers: %s", d)
		}

		// The calibration is read back from the file with the model.
		path := c.dir + "/calibrated.npz"
		c.must(k.name, "Save", models.Save(path, with, nil))
		back, _, err := c.load(path)
		c.must(k.name, "Load", err)
		x, _ := json.Marshal(with.Summary())
		y, _ := json.Marshal(back.Summary())
		if again := models.CalibrationOf(back); again == nil || string(x) != string(y) {
			c.fault(k.name, "the calibrated model %s comes back as %s", x, y)
		}

		// 6 is the half width that covers half of the residuals of someCalibration.
		if given.Classes != nil {
			c.probable(k, m, with, back)
		} else if half, err := models.CalibrationOf(back).Intervals.Half(0.5); err != nil || half[0] != 6 {
			c.fault(k.name, "the intervals come back with the half width %v, %v", half, err)
		}
		c.damagedCalibration(k, path)
	})
}

// probable compares the probabilities of a calibrated model and of the one that was loaded.
func (c *checker) probable(k kind, plain, with, back models.Model) {
	ask := &models.PredictSettings{Probabilities: true}
	same := func(what string, a, b *mat.Dense, n int) {
		// Each row is a distribution over the classes, and the loaded model gives the same bits.
		rows, cols := a.Dims()
		if rows != n || cols != with.Output().Columns || !mat.Equal(a, b) {
			c.fault(k.name, "%s: probabilities of %d×%d for %d points, the same when loaded: %v", what, rows,
				cols, n, mat.Equal(a, b))
		}
		for i := range rows {
			row := a.RawRowView(i)
			if sum := mat.Sum(a.RowView(i)); !(math.Abs(sum-1) < 1e-9) || !(slices.Min(row) >= 0) {
				c.fault(k.name, "%s: the probabilities of point %d are %v", what, i, row)
				return
			}
		}
	}

	if plain.Dim() > 0 {
		p := c.predict(k.name, with, queries(false), ask)
		q := c.predict(k.name, back, queries(false), ask)
		if p.Probabilities == nil || q.Probabilities == nil {
			c.must(k.name, "new points", errors.New("there are no probabilities"))
		}
		same("new points", p.Probabilities, q.Probabilities, queryCount)
	}

	// The probabilities of the training come from its scores, without a pass over points.
	if _, ok := plain.(models.Trained); !ok {
		return
	}
	p, err := models.TrainingProbabilities(with)
	c.must(k.name, "TrainingProbabilities", err)
	q, err := models.TrainingProbabilities(back)
	c.must(k.name, "TrainingProbabilities of the loaded model", err)
	same("training points", p, q, sampleSize)
}

// damagedCalibration changes the calibration in a file.
func (c *checker) damagedCalibration(k kind, path string) {
	// The manifest holds the calibration as JSON: each change breaks one of its bounds.
	entries, err := readEntries(path)
	c.must(k.name, "the file", err)
	at := slices.IndexFunc(entries, func(e archive.Array) bool { return e.Name == archive.Name })
	for what, change := range map[string]func(of map[string]any){
		"folds": func(of map[string]any) { of["folds"] = 1 },
		"held":  func(of map[string]any) { of["held"] = -1 },
		"classes": func(of map[string]any) {
			if _, ok := of["classes"]; ok {
				delete(of, "classes")
			} else {
				of["classes"] = map[string]any{"temperature": 1}
			}
		},
		"temperature": func(of map[string]any) {
			of["classes"] = map[string]any{"temperature": -1, "priors": []float64{1, 0, 0}}
		},
	} {
		text, err := changedManifest(entries[at].Data, func(settings map[string]any) {
			of, _ := settings["calibration"].(map[string]any)
			of = maps.Clone(of)
			change(of)
			settings["calibration"] = of
		})
		c.must(k.name, "the manifest", err)
		changed := slices.Clone(entries)
		changed[at] = archive.Array{Name: archive.Name, Data: text}
		c.refuseFile("calibration "+what, k.name, changed)
	}

	// Residuals of intervals are an array of the file, which can be damaged like any other.
	if i := slices.IndexFunc(entries, func(e archive.Array) bool { return e.Name == "calibration_residuals" }); i >= 0 {
		for _, d := range damages {
			if bad := d.make(entries[i]); bad != nil {
				rest := slices.Delete(slices.Clone(entries), i, i+1)
				c.refuseFile("residuals "+d.name, k.name, append(rest, *bad))
			}
		}
	}
}

// checkUncalibrated: a model without a calibration gives no probabilities.
func (c *checker) checkUncalibrated() {
	c.first(func(k kind) {
		m := c.fit(k.name, c.input(blobs(sampleSize, false, 1), k))
		if _, err := models.TrainingProbabilities(m); !errors.Is(err, models.ErrNotCalibrated) {
			c.fault(k.name, "probabilities without a calibration: %v", err)
		}

		// A model without points cannot be asked for new ones.
		if m.Dim() == 0 {
			return
		}
		p, err := m.Predict(context.Background(), queries(false),
			&models.PredictSettings{Probabilities: true})
		if err == nil && p.Probabilities != nil {
			c.fault(k.name, "a learner's own model gives probabilities")
		}
	})
}
