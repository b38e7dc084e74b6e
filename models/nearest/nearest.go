package nearest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
)

// Name is the name of [Model] in manifests and on the command line.
const Name = "knn"

// Settings of [Fit].
type Settings struct {
	// Vote is the number k of labeled points that vote; fewer where there are
	// fewer. Default that of the least leave-one-out error among 1, 3, …, 15.
	Vote   int        `json:"vote"`
	Metric knn.Metric `json:"metric"`
	// Method searches for them; Auto compares all pairs.
	Method knn.Method `json:"method"`
}

// MostVotes is the largest k that leave-one-out looks at.
const MostVotes = 15

// VoteError is the leave-one-out error of a number of votes.
type VoteError struct {
	Vote  int     `json:"vote"`
	Error float64 `json:"error"`
}

// Model is the classifier by a vote of the k nearest labeled points, the
// baseline that knows nothing of the others. It keeps the labeled points alone.
type Model struct {
	Settings Settings
	Classes  []int64
	Points   data.Points // the labeled ones, l×d
	Labels   []int32     // their classes, positions in Classes
	// Tried are the leave-one-out errors if Settings named no number of votes.
	Tried []VoteError

	models.LazyIndex
}

// Fit keeps the labeled points of x, and looks for k where s does not
// give it: the labels of the other l−1 points vote on each one, which costs the
// neighbours of l points among themselves. Of equal errors the smaller k is taken.
func Fit(ctx context.Context, x data.Points, y *data.Labels, s *Settings) (*Model, error) {
	n, _ := x.Dims()
	if err := models.CheckLabels(y, n); err != nil {
		return nil, err
	}
	if s == nil {
		s = &Settings{}
	}
	if s.Vote < 0 {
		return nil, fmt.Errorf("nearest: a vote of %d neighbours; the number must be positive, or 0 for leave-one-out", s.Vote)
	}
	labeled := y.Labeled()
	m := &Model{Settings: *s, Classes: y.Classes, Points: data.Select(x, labeled), Labels: y.Select(labeled).Index}
	ix, err := m.index()
	if err != nil {
		return nil, err
	}
	if s.Vote > 0 {
		return m, nil
	}
	nb, err := ix.Self(ctx, min(MostVotes, len(labeled)-1))
	if err != nil {
		return nil, err
	}
	for k := 1; k <= nb.K; k += 2 {
		wrong := 0
		classes := make([]int32, k)
		for i, own := range m.Labels {
			index, _ := nb.Row(i)
			for p := range classes {
				classes[p] = m.Labels[index[p]]
			}
			if Vote(classes) != own {
				wrong++
			}
		}
		m.Tried = append(m.Tried, VoteError{k, float64(wrong) / float64(len(labeled))})
	}
	m.Settings.Vote = slices.MinFunc(m.Tried, func(a, b VoteError) int { return cmp.Compare(a.Error, b.Error) }).Vote
	return m, nil
}

// index returns the index of the labeled points.
func (m *Model) index() (knn.Index, error) {
	return m.Get(m.Points, m.Settings.Method, nil, &knn.DescentSettings{Settings: knn.Settings{Metric: m.Settings.Metric}})
}

// Name is KNNName.
func (m *Model) Name() string { return Name }

// Outcomes are the class values.
func (m *Model) Outcomes() []int64 { return m.Classes }

// Predict lets the nearest labeled points vote, s.Neighbors of them if that is
// positive. Of classes with as many votes the one of the nearest point wins; the
// scores are the shares. A labeled point is its own neighbour. The first call
// builds an index; a call costs what knn says. After NN-descent the neighbours
// are approximate.
func (m *Model) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	if s == nil {
		s = &models.PredictSettings{}
	}
	k := m.Settings.Vote
	if s.Neighbors != 0 {
		k = s.Neighbors
	}
	if k < 1 {
		return nil, fmt.Errorf("nearest: a vote of %d neighbours; the number must be positive", k)
	}
	ix, err := m.index()
	if err != nil {
		return nil, err
	}
	nb, recall, err := models.Nearest(ctx, ix, nil, x, min(k, len(m.Labels)), s.OnProgress)
	if err != nil {
		return nil, err
	}
	return Votes(nb, m.Labels, len(m.Classes), recall), nil
}

// modelFile is what the manifest of a model file says.
type modelFile struct {
	Settings
	Tried []VoteError `json:"tried,omitempty"`
}

// Save writes the model as a .npz file, whole or not at all: classes (c), labels
// (l), the labeled points and the manifest. hashes name what the model was made
// from.
func (m *Model) Save(path string, hashes map[string]string) error {
	entries := append(models.ClassEntries(m.Classes), npy.Entry{Name: "labels", Data: m.Labels})
	return models.SaveFile(path, Name, modelFile{m.Settings, m.Tried}, hashes, append(entries, models.PointEntries(m.Points, nil)...))
}

func LoadNearest(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var f modelFile
	if err := models.ReadSettings(settings, &f); err != nil {
		return nil, err
	}
	m := &Model{Settings: f.Settings, Tried: f.Tried, Classes: r.ReadClasses(), Labels: models.Numbers[int32](r, "labels"), Points: r.Points()}
	if r.Err != nil {
		return nil, r.Err
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Model) check() error {
	if m.Points == nil {
		return errors.New("nearest: there are no points")
	}
	if l, _ := m.Points.Dims(); l != len(m.Labels) || l == 0 {
		return fmt.Errorf("nearest: %d points for %d labels", l, len(m.Labels))
	}
	if len(m.Classes) < 2 || m.Settings.Vote < 1 {
		return fmt.Errorf("nearest: %d classes and a vote of %d", len(m.Classes), m.Settings.Vote)
	}
	if i := slices.IndexFunc(m.Labels, func(c int32) bool { return c < 0 || int(c) >= len(m.Classes) }); i >= 0 {
		return fmt.Errorf("nearest: label %d of point %d is not one of %d classes", m.Labels[i], i, len(m.Classes))
	}
	_, err := m.index()
	return err
}
