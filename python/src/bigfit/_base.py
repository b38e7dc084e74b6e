"""What estimators share: parameters as flags, graphs that are given, fits and answers."""

import inspect

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _versions
from ._generated import GRAPH, GraphParameters
from ._run import COMMON, Call, flag_of, warn

PRECOMPUTED = "precomputed"
#: Parameters that are no flags of the command, or that a call takes by itself.
_RUN = {*COMMON.values(), "verbose", "mode"}
#: Parameters of the graph that say how neighbours become edges; the others how they are found.
_EDGES = ("symmetry", "weights", "t")


class Estimator(BaseEstimator):
    """A command of the program with parameters.

    The classes of ``_generated`` give the parameters, a subclass the methods. What is
    fitted is the model file, in ``_model_file`` as bytes, so that it travels with the
    object through pickle and joblib.
    """

    #: Flag of the command for a ready graph; "" is its first argument.
    _graph_flag = "--graph"
    #: Documentation of the attributes that fit sets.
    _attributes = ""

    def __init_subclass__(cls, **arguments):
        """Complete the documentation of the class by its parameters and attributes."""
        super().__init_subclass__(**arguments)
        base = next((b.__doc__ for b in cls.__mro__[1:] if b.__name__.endswith("Parameters")), None)
        if base and cls.__doc__:
            head, see, rest = cls.__doc__.rstrip().partition("    See Also\n")
            parts = [head.rstrip(), base[base.index("    Parameters\n"):].rstrip(), cls._attributes.rstrip(), (see + rest).rstrip()]
            cls.__doc__ = "\n\n".join(part for part in parts if part) + "\n    "

    def _call(self, command):
        return Call(command, n_jobs=self.n_jobs, random_state=self.random_state, memory_limit=self.memory_limit, verbose=self.verbose)

    def _give(self, call, n, only=None, without=()):
        """Give a call the parameters that are not their defaults.

        Parameters
        ----------
        call : Call
        n : int
            Number of points, which bounds that of neighbours.
        only : collection of str, default=None
            The parameters to give; None is all.
        without : collection of str
            Parameters not to give.
        """
        for name, p in inspect.signature(type(self).__init__).parameters.items():
            if name == "self" or name in _RUN or name in without or only is not None and name not in only:
                continue
            value = getattr(self, name)
            if name == "n_neighbors" and getattr(self, "radius", None) is None:
                value = _fewer(value if value is not None else p.default, n)
            if value is not None and not _equal(value, p.default):
                call.flag(flag_of(name), value)

    def _ready(self):
        """Return what X is in place of points: "metric", "weights" or "kernel", or None."""
        for name in ("metric", "weights", "kernel"):
            value = getattr(self, name, None)
            if isinstance(value, str) and value == PRECOMPUTED:
                return name
        return None

    def _more_tags(self):
        """Return scikit-learn's tags: a matrix between points is square."""
        return {"pairwise": self._ready() is not None}

    def __sklearn_tags__(self):
        """Return the tags that versions from 1.6 ask for."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._ready() is not None
        return tags

    def _points(self, X, reset):
        """Check points, or a matrix between them, with the names of their columns."""
        data = X
        ready = self._ready()
        least = 2 if reset else 1
        if isinstance(X, np.memmap) and X.ndim == 2:
            _versions.check_columns(self, X, X, reset)
            _at_least(X, least)
        else:
            # The program says where a value is that is not finite.
            X = check_array(X, accept_sparse="csr", ensure_min_samples=least, estimator=self, **_versions.ANY_VALUES)
            _versions.check_columns(self, X, data, reset)
        if ready and reset and X.shape[0] != X.shape[1]:
            raise ValueError(f"{ready} is precomputed, so X must be a square matrix between the points; it is {X.shape[0]}×{X.shape[1]}")
        return X

    def _give_points(self, call, X, graph=None):
        """Give a call the points, the graph or both, with the parameters of the graph."""
        ready = self._ready()
        n = X.shape[0]
        given = [name for name in GRAPH if hasattr(self, name)]
        if graph is None and ready == "weights":
            graph = sparse.csr_matrix(X)
        elif ready == "metric":
            graph = self._graph_of_distances(X)
        if graph is not None:
            call.input(self._graph_flag, "graph", graph if isinstance(graph, bytes) else _matrix(graph, n))
        if ready not in ("metric", "weights"):
            call.input("-X", "X", X)
        self._give(call, n, without=given if graph is not None else ())

    def _graph_of_distances(self, X):
        """Return the file of the graph of a matrix of distances, dense or of the nearest."""
        n = X.shape[0]
        k = self.n_neighbors if self.n_neighbors is not None else inspect.signature(GraphParameters).parameters["n_neighbors"].default
        indices, distances = nearest_of_distances(X, _fewer(k, n))
        with self._call("graph") as call:
            call.input("--lists", "X", {"indices": indices, "distances": distances})
            call.flag("lists-kind", "distances")
            self._give(call, n, only=_EDGES)
            call.output("-o", "graph.npz")
            call.run()
            return call.bytes("graph.npz")

    def _fit(self, X, target, flags, graph, output_graph=None):
        """Run fit; keep the model and return the answers for the training points."""
        with self._call("fit") as call:
            call.flag("model", self._model)
            self._give_points(call, X, graph)
            call.input("-y", "y", target)
            if output_graph is not None:
                call.input("--output-graph", "output_graph", sparse.csr_matrix(output_graph))
            for name, value in flags.items():
                call.flag(name, value)
            call.output("-o", "model.npz")
            call.output("--predictions", "answers.npz")
            self.summary_ = call.run()
            self._model_file = call.bytes("model.npz")
            return call.read("answers.npz")

    def _answer(self, X, flag=None):
        """Run predict for points and return its answers, with a flag the file of that too."""
        check_is_fitted(self, "_model_file")
        X = self._points(X, reset=False)
        if self._ready() in ("metric", "weights"):
            raise ValueError(f"{type(self).__name__} was fitted to a ready graph, which has no place for new points; transduction_ has the answers for its own")
        with self._call("predict") as call:
            call.input("", "model", self._model_file)
            call.input("-X", "X", X)
            call.output("-o", "answers.npy")
            if flag:
                call.output(flag, "more.npy")
            call.run()
            answers = call.array("answers.npy")
            return (answers, call.array("more.npy")) if flag else answers


_COMMON_ATTRIBUTES = """
    summary_ : dict
        What the program says of the fit: settings, what was chosen and why, warnings.

    n_features_in_ : int
        Number of columns of X.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X has them.
"""


class Regressor(Estimator):
    """An estimator of values. NaN in y marks points without one."""

    _attributes = (
        """    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,)
        The value of every training point, from the fit itself.
"""
        + _COMMON_ATTRIBUTES
    )

    def fit(self, X, y, graph=None):
        """Fit to points of which some have a value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All points, with and without a value.
        y : array-like of shape (n_samples,)
            Values, NaN where there is none.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            Symmetric weights in place of those of nearest neighbours.

        Returns
        -------
        self : object
        """
        X = self._points(X, reset=True)
        y = self._values(y)
        _same_length(X, y)
        self.transduction_ = self._fit(X, y, {"regression": True}, graph)["value"]
        return self

    def _values(self, y):
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        return _finite_or_nan(y)

    def predict(self, X):
        """Return values of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._answer(X)

    def _more_tags(self):
        return {"requires_y": True}


def _calibrates(estimator):
    if estimator.calibrate == "none":
        raise AttributeError('calibrate is "none", so there are no probabilities')
    return True


class Classifier(Estimator):
    """An estimator of classes. −1 in y marks points without a label, in text "" or "-1"."""

    #: Checks of scikit-learn that cannot pass, with the reason.
    _failures = {"check_classifiers_classes": "it has labels -1 and 1, and -1 marks points without a label"}
    _attributes = (
        """    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.

    transduction_ : ndarray of shape (n_samples,)
        The class of every training point, from the fit itself.
"""
        + _COMMON_ATTRIBUTES
    )

    def fit(self, X, y, graph=None):
        """Fit to points of which some are labeled.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All points, labeled and unlabeled.
        y : array-like of shape (n_samples,)
            Labels. −1 marks points without one; among names also "-1", "", None and NaN.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            Symmetric weights in place of those of nearest neighbours.

        Returns
        -------
        self : object
        """
        X = self._points(X, reset=True)
        self.classes_, codes = encode(y, type(self).__name__)
        _same_length(X, codes)
        if len(self.classes_) < 2:
            raise ValueError(f"y has only one class, {self.classes_[0]!r}; at least two classes must have a label")
        answers = self._fit(X, codes, {"unlabeled": -1 if (codes < 0).any() else "none"}, graph)
        self.transduction_ = self.classes_[answers["label"]]
        return self

    def predict(self, X):
        """Return the classes of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        codes = self._answer(X)
        return self.classes_[codes]

    @available_if(_calibrates)
    def predict_proba(self, X):
        """Return the probabilities of all classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows of sum 1. Of equal probabilities that of
            the answer is larger by one unit of rounding, so that ``argmax`` finds it.

        Raises
        ------
        ValueError
            If the labels were too few to hold any out. With ``calibrate="none"`` there is no
            such method.
        """
        codes, p = self._answer(X, "--proba")
        rows = np.arange(len(p))
        tied = p[rows, codes] == p.max(axis=1)
        p[rows[tied], codes[tied]] = np.nextafter(p[rows[tied], codes[tied]], 2)
        return p

    def _more_tags(self):
        return {"requires_y": True, "_xfail_checks": self._failures}


class Margins:
    """Gives a classifier whose scores are functions of the points ``decision_function``."""

    def decision_function(self, X):
        """Return the scores of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes the score of the second, which it has where that is positive;
            of more one each, of which the largest wins.
        """
        _, scores = self._answer(X, "--scores")
        return scores[:, 1] if scores.shape[1] == 2 else scores


def encode(y, name="a classifier"):
    """Return classes and their numbers, −1 for what is not labeled.

    Parameters
    ----------
    y : array-like of shape (n,)
        Integers of which −1 is unlabeled, or names, of which "-1", "", None, NaN and −1 are.
    name : str
        What messages call the estimator.

    Returns
    -------
    classes : ndarray
        The distinct labels, in order.
    codes : ndarray of int64, shape (n,)
    """
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind in "OUS":
        unlabeled = np.array([_is_unlabeled(v) for v in y.tolist()], dtype=bool)
    else:
        unlabeled = y == -1
    labels = y[~unlabeled]
    if len(labels) == 0:
        raise ValueError("y labels no point: all are -1; at least two classes must have a label")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity; -1 marks points without a label")
    check_classification_targets(labels)
    classes, inverse = np.unique(labels, return_inverse=True)
    codes = np.full(len(y), -1, dtype=np.int64)
    codes[~unlabeled] = inverse
    return classes, codes


def _is_unlabeled(value):
    return value is None or value in ("", "-1") or isinstance(value, (int, float)) and (value == -1 or value != value)


def nearest_of_distances(X, k):
    """Return the k nearest points of each by a matrix of distances.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, n)
        Distances. Entries that a sparse matrix does not store are no neighbours.
    k : int

    Returns
    -------
    indices : ndarray of int64, shape (n, k)
        In the order of their distance; −1 where a row has fewer.
    distances : ndarray of float64, shape (n, k)
    """
    n = X.shape[0]
    indices, distances = np.full((n, k), -1, dtype=np.int64), np.zeros((n, k))
    if not sparse.issparse(X):
        X = np.array(X, dtype=np.float64)
        np.fill_diagonal(X, np.inf)
        order = np.argsort(X, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(X, order, axis=1)
    X = sparse.csr_matrix(X)
    for i in range(n):
        row = slice(X.indptr[i], X.indptr[i + 1])
        to, far = X.indices[row], X.data[row]
        other = to != i
        to, far = to[other], far[other]
        order = np.lexsort((to, far))[:k]
        indices[i, : len(order)], distances[i, : len(order)] = to[order], far[order]
    return indices, distances


def _fewer(k, n):
    """Return the number of neighbours that n points have of the k that are asked for."""
    if k is None or n < 2 or not isinstance(k, (int, np.integer)) or k < n:
        return k
    warn(f"n_neighbors is {k} and there are {n} points; {n - 1} are taken")
    return n - 1


def _equal(value, default):
    """Return whether a parameter has its default."""
    if value is default:
        return True
    if isinstance(value, (str, bool, int, float)) or default is None:
        return type(value) is type(default) and value == default
    return np.array_equal(value, default)


def _matrix(graph, n):
    graph = sparse.csr_matrix(graph)
    if graph.shape != (n, n):
        raise ValueError(f"graph is {graph.shape[0]}×{graph.shape[1]} for {n} points; it must be a square matrix between them")
    return graph


def _same_length(X, y):
    if X.shape[0] != len(y):
        raise ValueError(f"X has {X.shape[0]} samples and y has {len(y)}: inconsistent numbers of samples")


def _finite_or_nan(y):
    if np.isinf(y).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    if np.isnan(y).all():
        raise ValueError("Input y contains NaN only; at least one point must have a value")
    return y


def _at_least(X, least):
    if X.shape[0] < least:
        raise ValueError(f"Found array with {X.shape[0]} sample(s) (shape={X.shape}) while a minimum of {least} is required.")
