package cluster

import (
	"encoding/json"
	"fmt"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
)

// spectralFile is what the manifest of a model file says.
type spectralFile struct {
	SpectralSettings
	Kernel kernel.Kernel `json:"kernel"`
}

// Save writes the model as a .npz file, whole or not at all: coefficients (m×p),
// values (p), centres (clusters×p) if there are any, the points of the expansion,
// and the manifest. hashes name what the model was made from.
func (m *Spectral) Save(path string, hashes map[string]string) error {
	entries := []npy.Entry{models.MatrixEntry("coefficients", m.Coefficients), {Name: "values", Data: m.Values}}
	if m.Centres != nil {
		entries = append(entries, models.MatrixEntry("centres", m.Centres))
	}
	return models.SaveFile(path, m.Name(), spectralFile{m.Settings, m.Kernel}, hashes, append(entries, models.PointEntries(m.Points, nil)...))
}

func LoadSpectral(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var f spectralFile
	if err := models.ReadSettings(settings, &f); err != nil {
		return nil, err
	}
	s, err := f.SpectralSettings.fill()
	if err != nil {
		return nil, err
	}
	k, err := f.Kernel.Fill()
	if err != nil {
		return nil, err
	}
	m := &Spectral{Settings: s, Kernel: k, Coefficients: r.Matrix("coefficients"), Values: models.Numbers[float64](r, "values")}
	if s.Clusters > 2 {
		m.Centres = r.Matrix("centres")
	}
	m.Points = r.Points()
	if r.Err != nil {
		return nil, r.Err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Spectral) check() error {
	_, p := m.Coefficients.Dims()
	if p != m.Settings.Components || len(m.Values) != p {
		return fmt.Errorf("cluster: coefficients of %d functions and %d values for %d components", p, len(m.Values), m.Settings.Components)
	}
	if m.Kernel.Kind == kernel.Precomputed {
		return fmt.Errorf("cluster: a %v kernel with points %t", m.Kernel.Kind, m.Points != nil)
	}
	if err := kernelmachine.CheckExpansion(m.Kernel, m.Points, m.Coefficients); err != nil {
		return err
	}
	if m.Centres != nil {
		if k, cols := m.Centres.Dims(); k != m.Settings.Clusters || cols != p {
			return fmt.Errorf("cluster: centres are %d×%d for %d clusters and %d components", k, cols, m.Settings.Clusters, p)
		}
	}
	return nil
}
