package eigenmap

import "github.com/bigfit/bigfit/models"

// load reads a model of this package.
func load(path string, limit int64) (models.Model, *models.Manifest, error) {
	return models.Load(path, limit, func(name string) models.Decoder {
		switch name {
		case Name:
			return Learner{}.Decode
		case EmbeddingName:
			return DecodeEmbedding
		}
		return nil
	})
}

// loadModel reads a classifier.
func loadModel(path string, limit int64) (*Model, *models.Manifest, error) {
	m, mf, err := load(path, limit)
	if err != nil {
		return nil, nil, err
	}
	return m.(*Model), mf, nil
}
