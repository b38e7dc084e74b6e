// Package all lists the learners of bigfit and reads their models.
package all

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/internal/suggest"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/models/propagation"
)

// Learners lists all learners in the order of help texts. A new learner is one more entry in
// the list of its family.
var Learners = slices.Concat(
	[]models.Learner{Auto},
	eigenmap.Learners,
	propagation.Learners,
	[]models.Learner{CorrectAndSmooth},
	linear.Learners,
	nearest.Learners,
	kernelmachine.Learners,
	eigenfunction.Learners,
)

// others holds the decoders of models that no learner makes.
var others = map[string]models.Decoder{
	cluster.SpectralName:   cluster.DecodeSpectral,
	eigenmap.EmbeddingName: eigenmap.DecodeEmbedding,
}

// Names lists the names of the learners, in the order of [Learners].
func Names() []string {
	out := make([]string, len(Learners))
	for i, l := range Learners {
		out[i] = l.Info().Name
	}
	return out
}

// Find returns the learner with this name. The error for an unknown name lists all names, and
// the one that may have been meant.
func Find(name string) (models.Learner, error) {
	if l := Learner(name); l != nil {
		return l, nil
	}

	names := Names()
	return nil, fmt.Errorf("unknown model %q; the models are %s%s",
		name, strings.Join(names, ", "), suggest.DidYouMean(name, names))
}

// Learner returns the learner with this name, nil if there is none: see [Find] for names
// that a user gave.
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
