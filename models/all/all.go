// Package all lists the learners of bigfit and reads their models.
package all

import (
	"slices"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/models/propagation"
)

// Learners is the list, in the order of help texts: a new learner is one more
// entry.
var Learners = slices.Concat(
	[]models.Learner{Auto},
	eigenmap.Learners,
	propagation.Learners,
	linear.Learners,
	nearest.Learners,
	kernelmachine.Learners,
	eigenfunction.Learners,
)

// others are models that no learner makes.
var others = map[string]models.Decoder{
	cluster.SpectralName:   cluster.DecodeSpectral,
	eigenmap.EmbeddingName: eigenmap.DecodeEmbedding,
}

// Learner returns the learner with this name, nil if there is none.
func Learner(name string) models.Learner {
	i := slices.IndexFunc(Learners, func(l models.Learner) bool { return l.Info().Name == name })
	if i < 0 {
		return nil
	}
	return Learners[i]
}

// Load reads a model of any kind: see [models.Load].
func Load(path string, limit int64) (models.Model, *models.Manifest, error) {
	return models.Load(path, limit, func(name string) models.Decoder {
		if l := Learner(name); l != nil {
			return l.Decode
		}
		return others[name]
	})
}
