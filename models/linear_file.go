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
	entries := []npy.Entry{matrixEntry("coefficients", m.Coefficients), {Name: "intercepts", Data: m.Intercepts}}
	return saveModel(path, m.Name(), fileLinear{m.Settings, m.Labeled, m.Iterations}, hashes, append(entries, classEntries(m.Classes)...))
}

func loadLinear(r *reader, settings json.RawMessage) (Model, error) {
	var f fileLinear
	if err := readSettings(settings, &f); err != nil {
		return nil, err
	}
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
