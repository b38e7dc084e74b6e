package models

import (
	"encoding/json"
	"fmt"

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
	if m.Classes != nil {
		entries = append(entries, npy.Entry{Name: "classes", Data: m.Classes})
	}
	return saveModel(path, m.Name(), fileLinear{m.Settings, m.Labeled, m.Iterations}, hashes, entries)
}

func loadLinear(r *reader, settings json.RawMessage) (Model, error) {
	var f fileLinear
	if err := json.Unmarshal(settings, &f); err != nil {
		return nil, fmt.Errorf("the settings in the manifest: %w", err)
	}
	s, err := f.LinearSettings.fill()
	if err != nil {
		return nil, err
	}
	m := &Linear{Settings: s, Labeled: f.Labeled, Iterations: f.Iterations}
	m.Coefficients = r.matrix("coefficients")
	m.Intercepts = numbers[float64](r, "intercepts")
	if r.a.Has("classes") {
		m.Classes = numbers[int64](r, "classes")
	}
	if r.err != nil {
		return nil, r.err
	}
	_, outputs := m.Coefficients.Dims()
	if outputs != len(m.Intercepts) {
		return nil, fmt.Errorf("models: %d intercepts for %d outputs", len(m.Intercepts), outputs)
	}
	if c := len(m.Classes); m.Classes != nil && (c < 2 || outputs != codeColumns(c)) {
		return nil, fmt.Errorf("models: %d outputs for %d classes", outputs, c)
	}
	return m, nil
}
