package cluster

import "github.com/bigfit/bigfit/models"

// load reads a model of this package.
func load(path string) (models.Model, *models.Manifest, error) {
	return models.Load(path, 0, func(name string) models.Decoder {
		if name != SpectralName {
			return nil
		}
		return DecodeSpectral
	})
}
