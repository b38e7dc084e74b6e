package kernelmachine

import (
	"encoding/json"

	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
)

// fileTSVM is what the manifest of a kernel one says.
type fileTSVM struct {
	TSVMSettings
	Kernel kernel.Kernel `json:"kernel"`
	Gap    float64       `json:"gap"`
	linear.FileFit
}

// Save writes the model as a .npz file, whole or not at all: the arrays of
// [Machine.Save], unlabeled (u), the numbers of the points that had no
// label, assigned (u×c), their targets, and the manifest. hashes name what the
// model was made from.
func (m *TSVM) Save(path string, hashes map[string]string) error {
	return models.SaveFile(path, TSVMName, fileTSVM{m.Settings, m.Kernel, m.Gap, m.File(m.Labeled)}, hashes,
		append(m.Machine.Entries(), m.Transduced.Entries()...))
}

func LoadTSVM(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var f fileTSVM
	if err := models.ReadSettings(settings, &f); err != nil {
		return nil, err
	}
	machine, err := f.machine().Fill()
	if err != nil {
		return nil, err
	}
	m := &TSVM{Settings: f.TSVMSettings}
	if m.Machine, err = ReadExpansion(r, f.Kernel); err != nil {
		return nil, err
	}
	m.Machine.Settings, m.Labeled, m.Gap = machine, f.Labeled, f.Gap
	if err := m.Machine.Check(); err != nil {
		return nil, err
	}
	m.Transduced, err = linear.ReadTransduced(r, f.FileFit, len(m.Bias))
	return m, err
}
