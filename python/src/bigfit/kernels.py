"""Kernels that know the graph of the points, for scikit-learn's machines with kernel="precomputed"."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from . import _generated as parameters
from ._base import Array, Estimator, Matrix
from ._run import Call

__all__ = ["WarpedKernel"]


class WarpedKernel(Estimator, parameters.KernelParameters):
    """Warped kernel; Sindhwani, Niyogi & Belkin 2005.

    k̃(x, z) = k(x, z) − k_xᵀ (I + MK)⁻¹ M k_z with M = γ_I/γ_A times the power of the
    Laplacian: points are alike if the graph of nearest neighbours joins them. Any machine
    that takes values of a kernel becomes semi-supervised with it. It is fitted to all
    points, labeled or not; the machine gets the rows and columns of the labeled ones::

        warped = WarpedKernel(gamma_i=0.1).fit(X)
        K = warped.kernel_
        machine = SVC(kernel="precomputed").fit(K[np.ix_(labeled, labeled)], y[labeled])
        machine.predict(K[:, labeled])                      # for all training points
        machine.predict(warped.transform(X_new)[:, labeled])

    It takes dense matrices, about seven of n_samples × n_samples.

    See Also
    --------
    LapSVC : The support vector machine with this kernel, also for very many points.
    """

    _graph_flag = ""
    _attributes = """    Attributes
    ----------
    kernel_ : ndarray of shape (n_samples, n_samples)
        Values among the training points; symmetric.

    summary_ : dict
        What the program says of the run.

    n_features_in_ : int
        Number of columns of X.
"""

    def fit(self, X: Matrix, y: None = None, graph: Matrix = None) -> Any:
        """Compute the kernel among points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; for kernel="precomputed" the values k of another kernel, n_samples × n_samples.
        y : None
            Not used.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            Symmetric weights in place of those of nearest neighbours.

        Returns
        -------
        self : object
        """
        if self._ready() in ("metric", "weights"):
            raise ValueError("a kernel needs points; give the graph of fit, and points as X")
        kept = self._points(X, reset=True)
        if kept is X:
            kept = kept.copy()  # the caller may change it
        self._fit_X = kept
        self._fit_graph = graph if graph is None else graph.copy()
        with self._call("kernel") as call:
            self._give_kernel(call)
            call.output("-o", "kernel.npy")
            self.summary_ = call.run()
            self.kernel_ = call.array("kernel.npy")
        return self

    def _give_kernel(self, call: Call) -> None:
        """Give a call the training points and all parameters."""
        self._give_points(call, self._fit_X, self._fit_graph)

    def fit_transform(self, X: Matrix, y: None = None, graph: Matrix = None) -> Array:
        """Compute the kernel among points and return it; that of :meth:`fit`."""
        return self.fit(X, graph=graph).kernel_

    def transform(self, X: Matrix) -> Array:
        """Return the values between new points and the training points.

        The kernel is made anew, which takes the time of :meth:`fit`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)

        Returns
        -------
        kernel : ndarray of shape (n_queries, n_samples)
        """
        return self._of_new(X, "--new-output")

    def diagonal(self, X: Matrix) -> Array:
        """Return k̃(x, x) of new points, the prior variances of a Gaussian process.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)

        Returns
        -------
        variances : ndarray of shape (n_queries,)
        """
        return self._of_new(X, "--variances")

    def _of_new(self, X: Matrix, flag: str) -> Array:
        """Return what the program writes for new points to the file of a flag."""
        check_is_fitted(self, "kernel_")
        fresh = self._points(X, reset=False)
        with self._call("kernel") as call:
            self._give_kernel(call)
            call.input("--new", "new", fresh)
            call.output(flag, "values.npy")
            call.output("-o", "kernel.npy")
            call.run()
            return call.array("values.npy")
