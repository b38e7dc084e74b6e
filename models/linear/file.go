package linear

import (
	"encoding/json"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/models"
)

// modelFile is what the manifest of a linear model says.
type modelFile struct {
	Settings
	Labeled    int `json:"labeled"`
	Iterations int `json:"iterations"`
}

// Save writes the model as a .npz file, whole or not at all: coefficients (d×m),
// intercepts (m), classes (c) unless it is a regression, and the manifest.
// hashes name what the model was made from.
func (m *Model) Save(path string, hashes map[string]string) error {
	return models.SaveFile(path, m.Name(), modelFile{m.Settings, m.Labeled, m.Iterations}, hashes, m.entries())
}

// entries are the arrays of the model.
func (m *Model) entries() []npy.Entry {
	entries := []npy.Entry{models.MatrixEntry("coefficients", m.Coefficients), {Name: "intercepts", Data: m.Intercepts}}
	return append(entries, models.ClassEntries(m.Classes)...)
}

func LoadLinear(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var f modelFile
	if err := models.ReadSettings(settings, &f); err != nil {
		return nil, err
	}
	m, err := readLinear(r, f)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// readLinear reads what entries returns.
func readLinear(r *models.Reader, f modelFile) (*Model, error) {
	s, err := f.Settings.fill()
	if err != nil {
		return nil, err
	}
	m := &Model{Settings: s, Labeled: f.Labeled, Iterations: f.Iterations}
	m.Coefficients = r.Matrix("coefficients")
	m.Intercepts = models.Numbers[float64](r, "intercepts")
	m.Classes = r.ReadClasses()
	if r.Err != nil {
		return nil, r.Err
	}
	return m, models.CheckOutputs(m.Coefficients, m.Intercepts, m.Classes, s.Loss != LeastSquares)
}
