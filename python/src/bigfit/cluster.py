"""Clusters of points along small cuts of their graph."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if

from . import _generated as parameters
from ._base import Array, Estimator, Matrix

__all__ = ["SpectralClustering"]


def _is_function(estimator: SpectralClustering) -> bool:
    if estimator.gamma is None:
        raise AttributeError("clusters of a graph are those of its points; with gamma they are functions, which new points have too")
    return True


class SpectralClustering(ClusterMixin, Estimator, parameters.ClusterParameters):
    """Clusters along small normalized cuts of the graph of nearest neighbours.

    Components of the graph are never mixed up: each gets as many clusters as it has among
    the smallest eigenvalues. With gamma the clusters are those of functions of a kernel's
    space, which are defined everywhere, and :meth:`predict` knows the clusters of new
    points; Belkin, Niyogi & Sindhwani 2006, section 6.1.

    See Also
    --------
    sklearn.cluster.SpectralClustering : The same for a connected graph.
    """

    _graph_flag = ""
    _attributes = """    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Number of the cluster of each point, -1 in components smaller than min_component.

    summary_ : dict
        What the program says of the run: sizes, cuts, eigenvalues, components.

    n_features_in_ : int
        Number of columns of X.
"""

    def fit(self, X: Matrix, y: None = None, graph: Matrix = None) -> Any:
        """Compute the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : None
            Not used.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            Symmetric weights in place of those of nearest neighbours.

        Returns
        -------
        self : object
        """
        X = self._points(X, reset=True)
        with self._call("cluster") as call:
            self._give_points(call, X, graph)
            call.output("-o", "labels.npy")
            if self.gamma is not None:
                call.output("--model", "model.npz")
            self.summary_ = call.run()
            self.labels_ = call.array("labels.npy")
            if self.gamma is not None:
                self._model_file = call.bytes("model.npz")
        return self

    def fit_predict(self, X: Matrix, y: None = None, graph: Matrix = None) -> Array:
        """Compute the clusters and return their numbers."""
        return self.fit(X, graph=graph).labels_

    @available_if(_is_function)
    def predict(self, X: Matrix) -> Array:
        """Return the clusters of new points; the clusters must be functions, with gamma.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._answer(X)[0]
