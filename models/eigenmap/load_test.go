package eigenmap

import (
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/models"
)

// load reads a model of this package.
func load(path string, limit int64) (models.Model, *manifest.Manifest, error) {
	return models.ReadFile(path, limit, models.Decoders{Name: LoadEigenmap, EmbeddingName: LoadEmbedding})
}

// loadModel reads a classifier.
func loadModel(path string, limit int64) (*Model, *manifest.Manifest, error) {
	m, mf, err := load(path, limit)
	if err != nil {
		return nil, nil, err
	}
	return m.(*Model), mf, nil
}
