package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/npy"
)

// Model is a fitted model: immutable, and safe for concurrent use.
type Model interface {
	// Name is the model's name in manifests and on the command line.
	Name() string
	// Outcomes are the class values that a Prediction's Classes are positions
	// in; nil for a regression.
	Outcomes() []int64
	// Predict answers for m points of as many dimensions as those it was
	// fitted on. A nil s means the defaults. The answer for a point does not
	// depend on the other points asked for at once.
	Predict(ctx context.Context, x data.Points, s *PredictSettings) (*Prediction, error)
	// Save writes the model as a .npz file, whole or not at all. hashes name
	// what it was made from.
	Save(path string, hashes map[string]string) error
}

// errNoQuery is what Predict returns for no points.
var errNoQuery = errors.New("models: no points to answer for")

// fileModel is what the manifest of a model file says about any model but the
// eigenmap classifier, whose settings stand beside the name.
type fileModel struct {
	Model string `json:"model"`
	// Classes says whether there is an array "classes": a regression has none.
	Classes  bool            `json:"classes"`
	Settings json.RawMessage `json:"settings"`
}

// loaders make a model of the settings in its manifest and the arrays of its
// file, which they check.
var loaders = map[string]func(r *reader, settings json.RawMessage) (Model, error){
	EigenmapName:      loadEigenmap,
	Harmonic.String(): loadGraph,
	LGC.String():      loadGraph,
	Tikhonov.String(): loadGraph,
	Poisson.String():  loadGraph,
	LapRLSLinearName:  loadLinear,
	LapSVMLinearName:  loadLinear,
	RLSLinearName:     loadLinear,
	SVMLinearName:     loadLinear,
	RLSName:           loadKernel,
	SVMName:           loadKernel,
	SVRName:           loadKernel,
	OneClassName:      loadKernel,
	LapRLSName:        loadKernel,
	LapSVMName:        loadKernel,
	LapSVRName:        loadKernel,
	LapOneClassName:   loadKernel,
	TSVMName:          loadTSVM,
	TSVMLinearName:    loadLinearTSVM,
	KNNName:           loadNearest,
	SpectralName:      loadSpectral,
	EmbeddingName:     loadEmbedding,
	VVMRName:          loadVVMR,
	SSSLName:          loadSSSL,
}

// saveModel writes the arrays of a model with its settings.
func saveModel(path, name string, settings any, hashes map[string]string, entries []npy.Entry) error {
	raw, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	classes := slices.ContainsFunc(entries, func(e npy.Entry) bool { return e.Name == "classes" })
	mf, err := manifest.New(manifest.Model, fileModel{name, classes, raw}, hashes)
	if err != nil {
		return err
	}
	text, err := mf.Bytes()
	if err != nil {
		return err
	}
	return npy.WriteArchive(path, append(entries, npy.Entry{Name: manifest.Name, Data: text}))
}

// classEntries are the array of class values; none for a regression.
func classEntries(classes []int64) []npy.Entry {
	if classes == nil {
		return nil
	}
	return []npy.Entry{{Name: "classes", Data: classes}}
}

// readSettings is the inverse of what saveModel does to settings.
func readSettings(raw json.RawMessage, settings any) error {
	if err := json.Unmarshal(raw, settings); err != nil {
		return fmt.Errorf("the settings in the manifest: %w", err)
	}
	return nil
}

// Load reads a file that a model's Save wrote, and its manifest. limit bounds
// the memory in bytes if it is positive. Damage is an error that names the file
// and the array.
func Load(path string, limit int64) (Model, *manifest.Manifest, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	r := &reader{a: a, limit: limit}
	text, err := a.ReadBytes(manifest.Name)
	if err != nil {
		return nil, nil, err
	}
	mf, err := manifest.Parse(text, manifest.Model, path)
	if err != nil {
		return nil, nil, err
	}
	var f fileModel
	if err := json.Unmarshal(mf.Settings, &f); err != nil {
		return nil, nil, fmt.Errorf("%s: the settings in the manifest: %w", path, err)
	}
	load, ok := loaders[f.Model]
	if !ok {
		return nil, nil, fmt.Errorf("%s: unknown model %q; it may be of a later version of bigfit", path, f.Model)
	}
	if f.Model == EigenmapName {
		f.Settings = mf.Settings // they stand beside the name
	} else if f.Classes != a.Has("classes") {
		return nil, nil, fmt.Errorf("%s: array classes: the manifest says that there is one: %v; the file is damaged", path, f.Classes)
	}
	m, err := load(r, f.Settings)
	if r.err != nil { // names the file itself
		return nil, nil, r.err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, mf, nil
}
