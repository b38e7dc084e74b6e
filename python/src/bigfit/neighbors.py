"""Nearest neighbours, exact or by NN-descent, for pipelines of other programs."""

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from . import _generated as parameters
from ._base import Estimator
from ._run import mapped_file

__all__ = ["KNeighborsTransformer", "precomputed_knn"]


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, parameters.NeighborsParameters):
    """The graph of nearest neighbours, as scikit-learn's, umap-learn and scanpy take it.

    As in ``sklearn.neighbors.KNeighborsTransformer`` a row of distances has n_neighbors + 1
    entries in ascending order: in the graph of the training points each is its own
    neighbour at distance 0, and first. A row of connectivity has n_neighbors of them, the
    point itself among them.

    See Also
    --------
    precomputed_knn : The lists for ``umap.UMAP(precomputed_knn=...)``.
    """

    _attributes = """    Attributes
    ----------
    n_samples_fit_ : int
        Number of the training points, the columns of graphs.

    summary_ : dict
        What the program says of the search of :meth:`fit_transform`: method, and where it
        is not exact its recall.

    n_features_in_ : int
        Number of columns of X.
"""

    def fit(self, X, y=None):
        """Keep the points, among which neighbours are searched.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        kept = self._points(X, reset=True)
        assert_all_finite(kept, input_name="X")
        if mapped_file(kept) is None and kept is X:
            kept = kept.copy()  # the caller may change it
        self._fit_X = kept
        self.n_samples_fit_ = self._n_features_out = kept.shape[0]
        return self

    def transform(self, X):
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

    def fit_transform(self, X, y=None):
        """Return the graph of the points: that of ``fit(X).transform(X)``, in one search."""
        return self.fit(X)._graph(None)

    def _graph(self, queries):
        """Return the graph from queries, or without any from the training points, to the training points."""
        n = self.n_samples_fit_
        indices, distances, summary = _search(self, self._fit_X, queries, self._count(n))
        if queries is None:
            self.summary_ = summary
        rows, k = indices.shape
        values = distances if self.mode == "distance" else np.ones_like(distances)
        indptr = np.arange(0, rows * k + 1, k, dtype=np.int64)
        return sparse.csr_matrix((values.ravel(), indices.ravel(), indptr), shape=(rows, n))

    def _count(self, n):
        if self.mode not in ("distance", "connectivity"):
            raise ValueError(f"mode is {self.mode!r}; it must be distance or connectivity")
        k = self.n_neighbors + (self.mode == "distance")
        if k > n:
            raise ValueError(f"n_neighbors is {self.n_neighbors} and there are {n} points; n_samples must be larger than n_neighbors")
        return k

    def _more_tags(self):
        return {"preserves_dtype": []}


def _search(estimator, X, queries, k):
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


def precomputed_knn(X, n_neighbors=15, **settings):
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
    transformer = KNeighborsTransformer(n_neighbors=n_neighbors, **settings).fit(X)
    indices, distances, _ = _search(transformer, transformer._fit_X, None, n_neighbors)
    return indices, distances
