// Package all lists the learners of bigfit and reads their models.
package all

import (
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/models/propagation"
)

// Decoders are those of all models.
var Decoders = models.Decoders{
	eigenmap.Name:                 eigenmap.LoadEigenmap,
	propagation.Harmonic.String(): propagation.LoadGraph,
	propagation.LGC.String():      propagation.LoadGraph,
	propagation.Tikhonov.String(): propagation.LoadGraph,
	propagation.Poisson.String():  propagation.LoadGraph,
	linear.LapRLSName:             linear.LoadLinear,
	linear.LapSVMName:             linear.LoadLinear,
	linear.RLSName:                linear.LoadLinear,
	linear.SVMName:                linear.LoadLinear,
	kernelmachine.RLSName:         kernelmachine.LoadKernel,
	kernelmachine.SVMName:         kernelmachine.LoadKernel,
	kernelmachine.SVRName:         kernelmachine.LoadKernel,
	kernelmachine.OneClassName:    kernelmachine.LoadKernel,
	kernelmachine.LapRLSName:      kernelmachine.LoadKernel,
	kernelmachine.LapSVMName:      kernelmachine.LoadKernel,
	kernelmachine.LapSVRName:      kernelmachine.LoadKernel,
	kernelmachine.LapOneClassName: kernelmachine.LoadKernel,
	kernelmachine.TSVMName:        kernelmachine.LoadTSVM,
	linear.TSVMName:               linear.LoadLinearTSVM,
	nearest.Name:                  nearest.LoadNearest,
	cluster.SpectralName:          cluster.LoadSpectral,
	eigenmap.EmbeddingName:        eigenmap.LoadEmbedding,
	kernelmachine.VVMRName:        kernelmachine.LoadVVMR,
	eigenfunction.Name:            eigenfunction.LoadSSSL,
}

// Load is [models.ReadFile] for the models of bigfit.
func Load(path string, limit int64) (models.Model, *manifest.Manifest, error) {
	return models.ReadFile(path, limit, Decoders)
}
