package models

import (
	"encoding/json"

	"github.com/bigfit/bigfit/internal/npy"
)

// fileLinear is what the manifest of a linear model says.
type fileLinear struct {
	LinearSettings
	Labeled    int `json:"labeled"`
	Iterations int `json:"iterations"`
}

// Save writes the model as a .npz file, whole or not at all: coefficients (d×m),
// intercepts (m), classes (c) unless it is a regression, and the manifest.
// hashes name what the model was made from.
func (m *Linear) Save(path string, hashes map[string]string) error {
	return saveModel(path, m.Name(), fileLinear{m.Settings, m.Labeled, m.Iterations}, hashes, m.entries())
}

// entries are the arrays of the model.
func (m *Linear) entries() []npy.Entry {
	entries := []npy.Entry{matrixEntry("coefficients", m.Coefficients), {Name: "intercepts", Data: m.Intercepts}}
	return append(entries, classEntries(m.Classes)...)
}

func loadLinear(r *reader, settings json.RawMessage) (Model, error) {
	var f fileLinear
	if err := readSettings(settings, &f); err != nil {
		return nil, err
	}
	m, err := readLinear(r, f)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// readLinear reads what entries returns.
func readLinear(r *reader, f fileLinear) (*Linear, error) {
	s, err := f.LinearSettings.fill()
	if err != nil {
		return nil, err
	}
	m := &Linear{Settings: s, Labeled: f.Labeled, Iterations: f.Iterations}
	m.Coefficients = r.matrix("coefficients")
	m.Intercepts = numbers[float64](r, "intercepts")
	m.Classes = r.classes()
	if r.err != nil {
		return nil, r.err
	}
	return m, checkOutputs(m.Coefficients, m.Intercepts, m.Classes, s.Loss != LeastSquares)
}
