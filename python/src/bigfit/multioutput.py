"""Several values a point, of which any may be missing."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils import check_array

from . import _generated as parameters
from ._base import Array, Matrix, Regressor, _finite_or_nan, _same_length
from ._versions import ANY_VALUES

__all__ = ["MultiOutputManifold"]


class MultiOutputManifold(RegressorMixin, Regressor, parameters.VvmrParameters):
    """Vector-valued manifold regularization: several values a point; Minh & Sindhwani 2011.

    NaN in Y marks values that are not known, of whole points or of single outputs. For
    points with several labels Y holds 1 and -1; answers are positive for the labels.
    """

    def fit(self: M, X: Matrix, y: Matrix, graph: Matrix = None, output_graph: Matrix = None,
            output_kernel: Matrix = None, output_norm: Any = None) -> M:
        """Fit to points of which some have values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All points, with and without values.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Values, NaN where there is none.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            Symmetric weights in place of those of nearest neighbours.
        output_graph : array-like or sparse matrix of shape (n_outputs, n_outputs), default=None
            Symmetric weights between the outputs, for gamma_o.
        output_kernel : array-like of shape (n_outputs, n_outputs), default=None
            B of the kernel k(x, z)B, symmetric and positive semidefinite, in place of output_graph.
        output_norm : array-like of shape (n_powers, n_outputs, n_outputs), default=None
            B_0, B_1, ... of the intrinsic norm of the sum of L^p (x) B_p, each symmetric and positive
            semidefinite; of L (x) I by default.

        Returns
        -------
        self : object
        """
        X = self._points(X, reset=True)
        y = self._values(y)
        _same_length(X, y)
        outputs: dict[str, Any] = {}
        if output_graph is not None:
            outputs["output_graph"] = sparse.csr_matrix(output_graph)
        if output_kernel is not None:
            outputs["output_kernel"] = check_array(output_kernel, dtype=np.float64)
        if output_norm is not None:
            stacked = check_array(output_norm, dtype=np.float64, allow_nd=True)
            outputs["output_norm"] = stacked.reshape(-1, stacked.shape[-1])
        self.transduction_ = self._fit(X, y, {"regression": True}, graph, outputs)["value"].reshape(y.shape)
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        self._shape = y.shape[1:]
        return self

    def predict(self, X: Matrix) -> Array:
        """Return values of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        values = super().predict(X)
        return values.reshape((values.shape[0], *self._shape))

    def _values(self, y: Matrix) -> Array:
        if y is None:
            return super()._values(y)
        return _finite_or_nan(check_array(y, dtype=np.float64, ensure_2d=False, **ANY_VALUES))

    def _more_tags(self) -> dict[str, Any]:
        return {"multioutput": True}


M = TypeVar("M", bound=MultiOutputManifold)
