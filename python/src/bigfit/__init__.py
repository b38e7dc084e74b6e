"""Manifold regularization and learning on graphs: scikit-learn estimators over the bigfit program."""

from . import datasets, graph
from ._binary import EngineError
from ._version import __version__
from .cluster import SpectralClustering
from .manifold import SpectralEmbedding
from .model_selection import AutoClassifier, AutoRegressor, LabeledKFold
from .multioutput import MultiOutputManifold
from .neighbors import KNeighborsTransformer, precomputed_knn
from .semi_supervised import (
    EigenmapClassifier,
    LabelPropagation,
    LabelSpreading,
    LapRLSClassifier,
    LapRLSRegressor,
    LapSVC,
    LinearLapRLSClassifier,
    LinearLapRLSRegressor,
    LinearLapSVC,
    Poisson,
    SSSLRegressor,
)

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "EigenmapClassifier",
    "EngineError",
    "KNeighborsTransformer",
    "LabelPropagation",
    "LabelSpreading",
    "LabeledKFold",
    "LapRLSClassifier",
    "LapRLSRegressor",
    "LapSVC",
    "LinearLapRLSClassifier",
    "LinearLapRLSRegressor",
    "LinearLapSVC",
    "MultiOutputManifold",
    "Poisson",
    "SSSLRegressor",
    "SpectralClustering",
    "SpectralEmbedding",
    "__version__",
    "datasets",
    "graph",
    "precomputed_knn",
]
