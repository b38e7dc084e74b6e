package propagation

import (
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/models"
)

// load reads a model of this package.
func load(path string, limit int64) (models.Model, *manifest.Manifest, error) {
	return models.ReadFile(path, limit, models.Decoders{Harmonic.String(): LoadGraph, LGC.String(): LoadGraph, Tikhonov.String(): LoadGraph, Poisson.String(): LoadGraph})
}
