package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
)

// Extension is a way to classify points outside the training set.
type Extension int

const (
	// LabelKNN labels the training points first and then takes a vote of the k
	// nearest of them (Belkin & Niyogi 2004, section 6.5).
	LabelKNN Extension = iota
	// Nystrom extends the eigenvectors to the new points through the weights of
	// their edges to the training points and applies the classifier.
	Nystrom
)

var extensionNames = []string{"knn", "nystrom"}

// PredictSettings of [eigenmap.Model.Predict]. The zero value is a vote of the nearest 3.
type PredictSettings struct {
	Extension Extension
	// Neighbors that vote in LabelKNN, default 3, the paper's choice. Nystrom
	// uses the graph's own number.
	Neighbors int
	// OnProgress, if not nil, is told how many points are answered; see
	// knn.Settings.
	OnProgress func(done, total int)
}

// Prediction holds the answers for m points.
type Prediction struct {
	Classes []int32    // positions in the model's classes; nil for a regression
	Scores  *mat.Dense // m×c: shares of the vote, or the values of f; of a regression its m×outputs values
	// Recall is that of the graph of training points in which the neighbours
	// were searched for, as estimated when it was made; nil if they are exact
	// or it was not estimated.
	Recall *knn.Recall
}

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

// ErrNoQuery is what Predict returns for no points.
var ErrNoQuery = errors.New("models: no points to answer for")

// FileModel is what the manifest of a model file says about any model but the
// eigenmap classifier, whose settings stand beside the name.
type FileModel struct {
	Model string `json:"model"`
	// Classes says whether there is an array "classes": a regression has none.
	Classes  bool            `json:"classes"`
	Settings json.RawMessage `json:"settings"`
}

// SaveFile writes the arrays of a model with its settings.
func SaveFile(path, name string, settings any, hashes map[string]string, entries []npy.Entry) error {
	raw, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	classes := slices.ContainsFunc(entries, func(e npy.Entry) bool { return e.Name == "classes" })
	mf, err := manifest.New(manifest.Model, FileModel{name, classes, raw}, hashes)
	if err != nil {
		return err
	}
	text, err := mf.Bytes()
	if err != nil {
		return err
	}
	return npy.WriteArchive(path, append(entries, npy.Entry{Name: manifest.Name, Data: text}))
}

// ClassEntries are the array of class values; none for a regression.
func ClassEntries(classes []int64) []npy.Entry {
	if classes == nil {
		return nil
	}
	return []npy.Entry{{Name: "classes", Data: classes}}
}

// ReadSettings is the inverse of what saveModel does to settings.
func ReadSettings(raw json.RawMessage, settings any) error {
	if err := json.Unmarshal(raw, settings); err != nil {
		return fmt.Errorf("the settings in the manifest: %w", err)
	}
	return nil
}

// Transformer is a model that gives points coordinates.
type Transformer interface {
	Model
	// Transform returns the coordinates of m points, m×p, one point
	// independently of the others.
	Transform(ctx context.Context, x data.Points) (*mat.Dense, error)
}

// Decoders make models of the settings in a manifest and the arrays of a file,
// which they check, by the name of the model.
type Decoders map[string]func(r *Reader, settings json.RawMessage) (Model, error)

// ReadFile reads a file that a model's Save wrote, and its manifest. limit bounds
// the memory in bytes if it is positive. Damage is an error that names the file
// and the array.
func ReadFile(path string, limit int64, decoders Decoders) (Model, *manifest.Manifest, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	r := &Reader{Archive: a, Limit: limit}
	text, err := a.ReadBytes(manifest.Name)
	if err != nil {
		return nil, nil, err
	}
	mf, err := manifest.Parse(text, manifest.Model, path)
	if err != nil {
		return nil, nil, err
	}
	var f FileModel
	if err := json.Unmarshal(mf.Settings, &f); err != nil {
		return nil, nil, fmt.Errorf("%s: the settings in the manifest: %w", path, err)
	}
	decode, ok := decoders[f.Model]
	if !ok {
		return nil, nil, fmt.Errorf("%s: unknown model %q; it may be of a later version of bigfit", path, f.Model)
	}
	if f.Model == "eigenmap" {
		f.Settings = mf.Settings // they stand beside the name
	} else if f.Classes != a.Has("classes") {
		return nil, nil, fmt.Errorf("%s: array classes: the manifest says that there is one: %v; the file is damaged", path, f.Classes)
	}
	m, err := decode(r, f.Settings)
	if r.Err != nil { // names the file itself
		return nil, nil, r.Err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, mf, nil
}
