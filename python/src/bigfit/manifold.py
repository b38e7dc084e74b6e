"""Coordinates of points by the Laplacian of their graph."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _generated as parameters
from ._base import Array, Estimator, Matrix
from ._run import Call

__all__ = ["DiffusionMap", "SpectralEmbedding"]


class _Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Coordinates by the command embed."""

    _graph_flag = ""
    _attributes = """    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training points.

    eigenvalues_ : list of float
        Eigenvalues of the coordinates.

    summary_ : dict
        What the program says of the run.

    n_features_in_ : int
        Number of columns of X.
"""

    def fit(self, X: Matrix, y: None = None, graph: Matrix = None) -> Any:
        """Compute the coordinates.

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
        self._model_file = None
        with self._call("embed") as call:
            self._embed(call, X, graph)
            call.output("-o", "embedding.npy")
            extends = graph is None and self._ready() not in ("metric", "weights")
            if extends:
                call.output("--model", "model.npz")
            self.summary_ = call.run()
            self.embedding_ = call.array("embedding.npy")
            if extends:
                self._model_file = call.bytes("model.npz")
        self.eigenvalues_ = self.summary_["values"]
        self._n_features_out = self.embedding_.shape[1]
        return self

    def _embed(self, call: Call, X: Any, graph: Matrix) -> None:
        """Give a call the points and all parameters."""
        self._give_points(call, X, graph)

    def fit_transform(self, X: Matrix, y: None = None, graph: Matrix = None) -> Array:
        """Compute the coordinates and return them; those of :meth:`fit`."""
        return self.fit(X, graph=graph).embedding_

    def transform(self, X: Matrix) -> Array:
        """Return coordinates of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, "embedding_")
        X = self._points(X, reset=False)
        if self._model_file is None:
            raise ValueError("the embedding is that of a ready graph, which has no place for new points")
        with self._call("embed") as call:
            call.input("--transform", "model", self._model_file)
            call.input("-X", "X", X)
            call.output("-o", "embedding.npy")
            call.run()
            return call.array("embedding.npy")


class SpectralEmbedding(_Embedding, parameters.EmbedParameters):
    """Laplacian eigenmap, which also gives coordinates to new points.

    The coordinates of a point are its entries in the eigenvectors of the smallest
    eigenvalues of the Laplacian of the graph of nearest neighbours; those that are
    constant on its components are left out; Belkin & Niyogi 2003. New points get the
    Nyström extension through their nearest neighbours. With gamma the coordinates are
    functions of a kernel's space; Belkin, Niyogi & Sindhwani 2006, section 6.1.

    See Also
    --------
    DiffusionMap : Eigenvectors of the random walk, scaled to diffusion distances.
    sklearn.manifold.SpectralEmbedding : The same of one component, without new points.
    """


class DiffusionMap(_Embedding, parameters.DiffusionParameters):
    """Diffusion map; Coifman & Lafon 2006.

    The weights of the graph are W_ij / (q_i q_j)^alpha for its degrees q. Coordinate j is
    |1 − λ_j|^time ψ_j, with the eigenvector ψ_j of the random walk on these weights and
    Σ π_i ψ_j(i)² = 1, π its stationary distribution: distances of all coordinates are
    diffusion distances. alpha = 1 takes the density of the points out (Laplace–Beltrami),
    ½ gives Fokker–Planck, 0 the walk on the graph as it is. New points get the Nyström
    extension. ``weights="heat"`` with a given t comes nearest to the paper's kernel; a point
    has no weight with itself.

    See Also
    --------
    SpectralEmbedding : Plain eigenvectors, of any Laplacian.
    """

    def _embed(self, call: Call, X: Any, graph: Matrix) -> None:
        self._give_points(call, X, graph, without=("alpha", "time"))
        call.flag("alpha", float(self.alpha))
        call.flag("diffusion-time", float(self.time))
