"""Nearest neighbours, exact or by NN-descent, and all within a radius, for pipelines of other programs."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from . import _generated as parameters
from . import _hints
from ._base import Estimator, Matrix
from ._run import Files, _stamp, mapped_file

__all__ = ["KNeighborsTransformer", "RadiusNeighborsTransformer", "precomputed_knn"]


class _Kept(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A transformer that keeps its points."""

    _attributes = """    Attributes
    ----------
    n_samples_fit_ : int
        Number of the training points, the columns of graphs.

    summary_ : dict
        What the program says of the search of :meth:`fit_transform`.

    n_features_in_ : int
        Number of columns of X.
"""
    mode: str
    _fit_X: Any
    n_samples_fit_: int

    def fit(self, X: Matrix, y: None = None) -> Any:
        """Keep the points, among which neighbours are searched.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points, or names of .npy files, one below the other.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        kept = self._points(X, reset=True)
        if not isinstance(kept, Files):
            assert_all_finite(kept, input_name="X")
        path = mapped_file(kept)
        if path is None and kept is X:
            kept = kept.copy()  # the caller may change it
        self._fit_X = kept
        self._file = None if path is None else (path, _stamp(path))
        self.n_samples_fit_ = self._n_features_out = kept.shape[0]
        return self

    def transform(self, X: Matrix) -> Any:
        """Return the neighbours of points among the training points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_samples_fit)
            Entries of a row in the order of their distance.
        """
        check_is_fitted(self, "_fit_X")
        return self._graph(self._points(X, reset=False))

    def fit_transform(self, X: Matrix, y: None = None) -> Any:
        """Return the graph of the points, as ``fit(X).transform(X)`` does, in one search."""
        return self.fit(X)._graph(None)

    def _graph(self, queries: Any) -> Any:
        """Return the graph from queries, or without any from the training points, to the training points."""
        raise NotImplementedError

    def _same_points(self) -> Any:
        """Return the training points; a mapped file of theirs must be as it was."""
        if self._file is not None and _stamp(self._file[0]) != self._file[1]:
            raise ValueError(f"{self._file[0]} was changed since the fit; fit again")
        return self._fit_X

    def _check_mode(self) -> None:
        if self.mode not in ("distance", "connectivity"):
            raise ValueError(f"mode is {self.mode!r}; it must be distance or connectivity")

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": []}


class KNeighborsTransformer(_Kept, parameters.NeighborsParameters):
    """The graph of nearest neighbours, as scikit-learn's, umap-learn and scanpy take it.

    As in ``sklearn.neighbors.KNeighborsTransformer`` a row of distances has n_neighbors + 1
    entries in ascending order: in the graph of the training points each is its own
    neighbour at distance 0, and first. A row of connectivity has n_neighbors of them, the
    point itself among them.

    See Also
    --------
    precomputed_knn : The lists for ``umap.UMAP(precomputed_knn=...)``.
    """

    def _graph(self, queries: Any) -> Any:
        n = self.n_samples_fit_
        indices, distances, summary = _search(self, self._same_points(), queries, self._count(n))
        if queries is None:
            self.summary_ = summary
        rows, k = indices.shape
        values = distances if self.mode == "distance" else np.ones_like(distances)
        indptr = np.arange(0, rows * k + 1, k, dtype=np.int64)
        return sparse.csr_matrix((values.ravel(), indices.ravel(), indptr), shape=(rows, n))

    def _count(self, n: int) -> int:
        self._check_mode()
        k = self.n_neighbors + (self.mode == "distance")
        if k > n:
            raise ValueError(f"n_neighbors is {self.n_neighbors} and there are {n} points; n_samples must be larger than n_neighbors")
        return k


class RadiusNeighborsTransformer(_Kept, parameters.RadiusNeighborsParameters):
    """The graph of all pairs of points within a radius, as scikit-learn's transformer gives it.

    As in ``sklearn.neighbors.RadiusNeighborsTransformer`` each training point is its own
    neighbour at distance 0. :meth:`transform` searches among the training points and the new
    ones together, so that it takes longer than the new points alone would.

    See Also
    --------
    KNeighborsTransformer : The same with a number of neighbours.
    """

    def _graph(self, queries: Any) -> Any:
        self._check_mode()
        X = self._same_points()
        n = self.n_samples_fit_
        if queries is not None:
            if isinstance(X, Files) or isinstance(queries, Files):
                raise ValueError("points in files have neighbours within a radius among themselves only, by fit_transform")
            stack = sparse.vstack if sparse.issparse(X) or sparse.issparse(queries) else np.vstack
            X = stack([X, queries])
        with self._call("neighbors") as call:
            call.input("-X", "X", X)
            self._give(call, X.shape[0], without=("radius",))
            call.flag("radius", float(self.radius))
            call.output("-o", "pairs.npz")
            summary = call.run()
            near = sparse.load_npz(io.BytesIO(call.bytes("pairs.npz"))).tocsr()
        if queries is None:
            self.summary_ = summary
        else:
            near = near[n:, :n]
        return _by_distance(near, queries is None, self.mode)


def _by_distance(near: Any, with_self: bool, mode: str) -> Any:
    """Return distances with the entries of a row in ascending order, the point itself first."""
    rows, n = near.shape
    row = np.repeat(np.arange(rows), np.diff(near.indptr))
    col, far = near.indices, near.data
    if with_self:
        row, col, far = np.append(row, np.arange(n)), np.append(col, np.arange(n)), np.append(far, np.zeros(n))
    order = np.lexsort((col, row != col if with_self else col, far, row))
    if mode == "connectivity":
        far = np.ones_like(far)
    indptr = np.append(0, np.cumsum(np.bincount(row, minlength=rows)))
    return sparse.csr_matrix((far[order], col[order], indptr), shape=(rows, n))


def _search(estimator: Estimator, X: Any, queries: Any, k: int) -> tuple[NDArray[np.int32], NDArray[np.float64], dict[str, Any]]:
    """Return indices, distances and summary of a search; without queries each point comes first in its list."""
    with estimator._call("neighbors") as call:
        call.input("-X", "X", X)
        if queries is None:
            call.flag("with-self", True)
        else:
            call.input("--query", "queries", queries)
        estimator._give(call, X.shape[0], without=("n_neighbors",))
        call.flag("neighbors", k)
        call.output("-o", "knn.npz")
        summary = call.run()
        found = call.read("knn.npz")
    return found["indices"], found["distances"], summary


def precomputed_knn(X: Matrix, n_neighbors: int = 15, **settings: Any) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the lists of nearest neighbours that ``umap.UMAP(precomputed_knn=...)`` takes.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_neighbors : int, default=15
        Length of the lists, of which the point itself is the first entry.
    **settings
        Parameters of :class:`KNeighborsTransformer`, as metric and method.

    Returns
    -------
    indices : ndarray of int32, shape (n_samples, n_neighbors)
    distances : ndarray of float64, shape (n_samples, n_neighbors)
    """
    _hints.check(KNeighborsTransformer, (), settings, "precomputed_knn")
    transformer = KNeighborsTransformer(n_neighbors=n_neighbors, **settings).fit(X)
    indices, distances, _ = _search(transformer, transformer._fit_X, None, n_neighbors)
    return indices, distances
