"""The parts: graphs of nearest neighbours, features averaged over them, eigenpairs of their Laplacians, linear systems."""

from __future__ import annotations

import io
from os import PathLike, fspath
from typing import Any, Optional, Union

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from . import _generated as parameters
from . import _hints
from ._base import Array, Estimator, Matrix, _matrix
from ._run import Call, Served

__all__ = ["Factor", "eigs", "factorize", "hop_features", "knn_graph", "solve"]


class _Graph(Estimator, parameters.GraphParameters):
    """The command graph with its parameters."""


def knn_graph(X: Matrix, n_neighbors: int = 8, **settings: Any) -> Any:
    """Return the weighted graph of nearest neighbours of points.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_neighbors : int, default=8
        Nearest neighbours of every point, itself not counted.
    **settings
        pca, metric, radius, symmetry, weights, method, patience, recall, t, random_state,
        n_jobs, memory_limit and verbose, as of the estimators.

    Returns
    -------
    graph : csr_matrix of shape (n_samples, n_samples)
        Symmetric weights.
    """
    _hints.check(_Graph, (), settings, "knn_graph")
    made = _Graph(n_neighbors=n_neighbors, **settings)
    X = made._points(X, reset=True)
    with made._call("graph") as call:
        call.input("-X", "X", X)
        made._give(call, X.shape[0])
        call.output("-o", "graph.npz")
        call.run()
        return sparse.load_npz(io.BytesIO(call.bytes("graph.npz")))


class _Features(Estimator, parameters.FeaturesParameters):
    """The command features with its parameters."""


def hop_features(X: Matrix, graph: Matrix = None, hops: int = 2, **settings: Any) -> Any:
    """Return X, AX, A²X, … side by side, with the normalized adjacency A of a graph.

    Programs that know no graphs take them in place of X (SIGN, Frasca et al. 2020; the last
    hop with self_loops is SGC, Wu et al. 2019). A point without an edge keeps its columns.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    graph : sparse matrix of shape (n_samples, n_samples), default=None
        Symmetric weights, such as links; None is the graph of nearest neighbours that
        AutoClassifier makes of X.
    hops : int, default=2
        Largest power of A.
    **settings
        normalization, "symmetric" (D^-½ W D^-½, the default) or "row" (D⁻¹W), self_loops,
        the parameters of the graph without one, n_jobs, memory_limit and verbose, as of
        :func:`knn_graph`.

    Returns
    -------
    features : ndarray of float32 or csr_matrix, shape (n_samples, (hops + 1) n_features)
        Columns h n_features to (h + 1) n_features − 1 are hop h; sparse where X is.
    """
    _hints.check(_Features, (), settings, "hop_features")
    made = _Features(hops=hops, **settings)
    X = made._points(X, reset=True)
    kept = sparse.issparse(X)
    name = "features.npz" if kept else "features.npy"
    with made._call("features") as call:
        made._give_points(call, X, graph)
        call.output("-o", name)
        call.run()
        return sparse.load_npz(io.BytesIO(call.bytes(name))) if kept else call.array(name)


def eigs(graph: Matrix, k: Optional[int] = None, *, below: Optional[float] = None, laplacian: str = "combinatorial", power: int = 1,
         which: str = "SM", tol: Optional[float] = None, maxiter: int = 60, dtype: Any = np.float64, return_eigenvectors: bool = True, certificate: bool = False,
         random_state: Any = None, n_jobs: Optional[int] = None, memory_limit: Union[str, int, None] = None, verbose: int = 0) -> Any:
    """Return eigenpairs of the Laplacian of a graph, none left out.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n)
        Symmetric weights, not negative.
    k : int, default=None
        Number of eigenpairs; None means 6, or with below as many as there are.
    below : float, default=None
        Return all eigenpairs with values below this, in place of k.
    laplacian : {"combinatorial", "normalized", "random-walk"}, default="combinatorial"
        D − W, its symmetric normalization, or Lf = λDf.
    power : int, default=1
        Power of the Laplacian, which is never formed.
    which : {"SM", "LM"}, default="SM"
        The smallest or the largest.
    tol : float, default=None
        Largest residual ‖Lv − λv‖ of a pair, relative to ‖L‖; None is 1e-8, and 1e-6 with float32.
    maxiter : int, default=60
        Restarts after which the run gives up.
    dtype : {np.float64, np.float32}, default=np.float64
        Of the vectors. With float32 the run takes about half of the memory, and less time on large graphs; the values are
        accurate to some 1e-10·‖L‖.
    return_eigenvectors : bool, default=True
    certificate : bool, default=False
        Also return what was verified.
    random_state, n_jobs, memory_limit, verbose
        As of the estimators.

    Returns
    -------
    values : ndarray of shape (k,)
        In ascending order for "SM". Fewer with a ConvergenceWarning.
    vectors : ndarray of shape (n, k)
        Only with return_eigenvectors.
    certificate : dict
        Only with certificate: "nullity", the components of the graph; "max_residual",
        "orthogonality" and "norm", recomputed; "next_value", an eigenvalue beyond
        the last one; a search on the complement of the result found none below it. With
        below, "counted" is True where the inertia of a factor of L − below·I counts as many
        pairs, and "exact" where the whole spectrum was computed.
    """
    if below is not None and (k is not None or which == "LM"):
        raise ValueError("below returns all pairs below a value, the smallest; leave out k, and which")
    if which not in ("SM", "LM"):
        raise ValueError(f"which is {which!r}; it must be SM or LM")
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype is {np.dtype(dtype)}; it must be float64 or float32")
    with Call("eigs", random_state=random_state, n_jobs=n_jobs, memory_limit=memory_limit, verbose=verbose) as call:
        call.input("", "graph", _matrix(graph, graph.shape[0]))
        if below is None:
            call.flag("pairs", 6 if k is None else k)
        else:
            call.flag("below", float(below))
        call.flag("laplacian", laplacian)
        call.flag("power", power)
        call.flag("restarts", maxiter)
        if tol is not None:
            call.flag("tolerance", tol)
        if np.dtype(dtype) == np.float32:
            call.flag("precision", "single")
        if which == "LM":
            call.flag("largest", True)
        call.output("-o", "eigs.npz")
        summary = call.run()
        found = call.read("eigs.npz")
    out: list[Any] = [found["values"]]
    if return_eigenvectors:
        out.append(np.ascontiguousarray(found["vectors"]))
    if certificate:
        made = {name: value for name, value in summary.items() if name != "stages"}
        if below is not None:
            made.setdefault("counted", False)
        out.append(made)
    return out[0] if len(out) == 1 else tuple(out)


def solve(graph: Matrix, B: Matrix, *, shift: float = 0.0, laplacian: str = "combinatorial", power: int = 1, project: bool = False,
          tol: float = 1e-8, maxiter: int = 10_000, random_state: Any = None, n_jobs: Optional[int] = None,
          memory_limit: Union[str, int, None] = None, verbose: int = 0) -> Array:
    """Solve (L + cI)ᵖX = B with the Laplacian L of a graph, all columns at once.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n)
        Symmetric weights, not negative.
    B : array-like of shape (n,) or (n, m)
        Right-hand sides.
    shift : float, default=0.0
        c. With 0 the system is singular, and X has no part along the null vectors.
    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
    power : int, default=1
        p; the power is never formed.
    project : bool, default=False
        Take from B what it has along the null vectors, in place of an error.
    tol : float, default=1e-8
        Largest residual of a column, relative to that of B.
    maxiter : int, default=10000
    random_state, n_jobs, memory_limit, verbose
        As of the estimators.

    Returns
    -------
    X : ndarray of the shape of B
    """
    B = check_array(B, dtype=np.float64, ensure_2d=False, input_name="B")
    with Call("solve", random_state=random_state, n_jobs=n_jobs, memory_limit=memory_limit, verbose=verbose) as call:
        call.input("", "graph", _matrix(graph, B.shape[0]))
        call.input("", "B", B)
        call.flag("shift", float(shift))
        call.flag("laplacian", laplacian)
        call.flag("power", power)
        call.flag("project", bool(project))
        call.flag("tolerance", tol)
        call.flag("max-iterations", maxiter)
        call.output("-o", "X.npy")
        call.run()
        return call.array("X.npy").reshape(B.shape)


class Factor:
    """The factor of L + cI for the Laplacian L of a graph: see :func:`factorize`.

    Attributes
    ----------
    shape : (int, int)
        n, n.
    method : str
        "cholesky" is exact; "approx-cholesky" where an exact factor would be too large, in
        front of conjugate gradients.
    """

    def __init__(self, graph: Any, flags: dict[str, Any], run: dict[str, Any]) -> None:
        # A copy makes the factor again, and does not write it again.
        self._made = (graph, {name: value for name, value in flags.items() if name != "save-factor"}, run)
        call = Call("solve", **run)
        call.input("", "graph", graph)
        call.flag("serve", True)
        for name, value in flags.items():
            call.flag(name, value)
        try:
            self._served = Served(call)
        except BaseException:
            call.__exit__(None, None, None)
            raise
        self.shape = graph.shape
        self.method: str = self._served.summary["method"]

    def solve(self, B: Matrix) -> Array:
        """Return X with (L + cI)X = B.

        Parameters
        ----------
        B : array-like of shape (n,) or (n, m)
            Right-hand sides.

        Returns
        -------
        X : ndarray of the shape of B
        """
        B = check_array(B, dtype=np.float64, ensure_2d=False, input_name="B")
        if B.shape[0] != self.shape[0]:
            raise ValueError(f"B has {B.shape[0]} rows and the graph {self.shape[0]} points")
        found, _ = self._served.ask(B)
        shaped: Array = found.reshape(B.shape)
        return shaped

    __call__ = solve

    def close(self) -> None:
        """End the process that keeps the factor; it also ends with the object."""
        self._served.close()

    def __enter__(self) -> Factor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        # The factor is made again where it is unpickled.
        return Factor, self._made


def factorize(graph: Matrix, shift: float = 0.0, *, laplacian: str = "combinatorial", project: bool = False, tol: float = 1e-8, maxiter: int = 10_000,
              factor: Union[str, PathLike[str], None] = None, save_factor: Union[str, PathLike[str], None] = None, random_state: Any = None, n_jobs: Optional[int] = None, memory_limit: Union[str, int, None] = None, verbose: int = 0) -> Factor:
    """Factor L + cI once, for many right-hand sides that come one after the other.

    A process of the program holds the factor until the object is closed, or goes. Every
    solution has the residual that ``tol`` asks for, as those of :func:`solve`, which makes
    its preconditioner anew each time.

    Parameters
    ----------
    graph : sparse matrix of shape (n, n)
        Symmetric weights, not negative.
    shift : float, default=0.0
        c. With 0 the system is singular, and X has no part along the null vectors.
    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
    project : bool, default=False
        Take from B what it has along the null vectors, in place of an error.
    tol : float, default=1e-8
        Largest residual of a column, relative to that of B.
    maxiter : int, default=10000
    factor : path, default=None
        A file of save_factor to take the factor from; a factor of another graph, shift or
        kind of Laplacian is a ValueError.
    save_factor : path, default=None
        Also keep the factor in this file, ``.npz``; ``bigfit solve --factor`` takes it too.
    random_state, n_jobs, memory_limit, verbose
        As of the estimators.

    Returns
    -------
    factor : Factor

    Examples
    --------
    >>> with factorize(W, 0.1) as factor:            # doctest: +SKIP
    ...     for B in blocks:
    ...         X = factor.solve(B)
    """
    flags: dict[str, Any] = {"shift": float(shift), "laplacian": laplacian, "project": bool(project), "tolerance": tol, "max-iterations": maxiter}
    for flag, path in (("factor", factor), ("save-factor", save_factor)):
        if path is not None:
            flags[flag] = fspath(path)
    run = {"random_state": random_state, "n_jobs": n_jobs, "memory_limit": memory_limit, "verbose": verbose}
    return Factor(_matrix(graph, graph.shape[0]), flags, run)
