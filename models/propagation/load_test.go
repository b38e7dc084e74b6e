package propagation

import "github.com/bigfit/bigfit/models"

// load reads a model of this package.
func load(path string, limit int64) (models.Model, *models.Manifest, error) {
	return models.Load(path, limit, func(name string) models.Decoder {
		for _, l := range Learners {
			if l.Info().Name == name {
				return l.Decode
			}
		}
		return nil
	})
}
