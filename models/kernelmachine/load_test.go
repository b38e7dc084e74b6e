package kernelmachine

import "github.com/bigfit/bigfit/models"

// load reads a model of this package.
func load(path string) (models.Model, *models.Manifest, error) {
	return models.Load(path, 0, func(name string) models.Decoder {
		for _, l := range Learners {
			if l.Info().Name == name {
				return l.Decode
			}
		}
		return nil
	})
}

// What tests outside of the package need.
var (
	Load            = load
	ApproximateCost = approximateCost
)
