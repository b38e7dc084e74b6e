"""Manifold regularization and learning on graphs: scikit-learn estimators over the bigfit program."""

from . import cluster, datasets, graph, labeling, manifold, model_selection, multioutput, neighbors, semi_supervised
from ._binary import EngineError
from ._version import __version__
from .cluster import *
from .labeling import *
from .manifold import *
from .model_selection import *
from .multioutput import *
from .neighbors import *
from .semi_supervised import *

#: Modules whose names are names of the package, too.
_MODULES = (cluster, labeling, manifold, model_selection, multioutput, neighbors, semi_supervised)

__all__ = sorted(["EngineError", "__version__", "datasets", "graph", *(name for module in _MODULES for name in module.__all__)])
