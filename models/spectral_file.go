package models

import (
	"encoding/json"
	"fmt"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/kernel"
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
	entries := []npy.Entry{matrixEntry("coefficients", m.Coefficients), {Name: "values", Data: m.Values}}
	if m.Centres != nil {
		entries = append(entries, matrixEntry("centres", m.Centres))
	}
	return saveModel(path, m.Name(), spectralFile{m.Settings, m.Kernel}, hashes, append(entries, pointEntries(m.Points, nil)...))
}

func loadSpectral(r *reader, settings json.RawMessage) (Model, error) {
	var f spectralFile
	if err := readSettings(settings, &f); err != nil {
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
	m := &Spectral{Settings: s, Kernel: k, Coefficients: r.matrix("coefficients"), Values: numbers[float64](r, "values")}
	if s.Clusters > 2 {
		m.Centres = r.matrix("centres")
	}
	m.Points = r.points()
	if r.err != nil {
		return nil, r.err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Spectral) check() error {
	_, p := m.Coefficients.Dims()
	if p != m.Settings.Components || len(m.Values) != p {
		return fmt.Errorf("models: coefficients of %d functions and %d values for %d components", p, len(m.Values), m.Settings.Components)
	}
	if m.Kernel.Kind == kernel.Precomputed {
		return fmt.Errorf("models: a %v kernel with points %t", m.Kernel.Kind, m.Points != nil)
	}
	if err := checkExpansion(m.Kernel, m.Points, m.Coefficients); err != nil {
		return err
	}
	if m.Centres != nil {
		if k, cols := m.Centres.Dims(); k != m.Settings.Clusters || cols != p {
			return fmt.Errorf("models: centres are %d×%d for %d clusters and %d components", k, cols, m.Settings.Clusters, p)
		}
	}
	return nil
}
