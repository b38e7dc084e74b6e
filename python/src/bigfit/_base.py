"""What estimators share: parameters as flags, graphs that are given, fits, answers and the loop of labeling."""

from __future__ import annotations

import inspect
import numbers
import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Optional, TypeVar, Union

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _hints, _versions
from ._generated import GRAPH, GraphParameters
from ._run import COMMON, Call, Files, flag_of, warn

#: Points, labels, graphs: arrays, sparse matrices of SciPy, tables of pandas, lists, names of files.
Matrix = Any
Array = NDArray[Any]
Self = TypeVar("Self", bound="Estimator")

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

    # Set by the classes of _generated, and by fit.
    _model: str
    n_jobs: Optional[int]
    random_state: Any
    memory_limit: Union[str, int, None]
    verbose: int
    summary_: dict[str, Any]
    _model_file: Any
    n_features_in_: int

    if not TYPE_CHECKING:  # there the signature is the one of __init__

        def __new__(cls, *arguments, **parameters):
            """Refuse parameters that there are not, in the name of the estimator."""
            _hints.check(cls, arguments, parameters)
            return super().__new__(cls)

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Complete the documentation of the class by its parameters and attributes."""
        super().__init_subclass__(**arguments)
        signature = inspect.signature(cls.__init__)
        setattr(cls, "__signature__", signature.replace(parameters=list(signature.parameters.values())[1:]))
        base = next((b.__doc__ for b in cls.__mro__[1:] if b.__name__.endswith("Parameters")), None)
        if base and cls.__doc__:
            head, see, rest = cls.__doc__.rstrip().partition("    See Also\n")
            parts = [head.rstrip(), base[base.index("    Parameters\n"):].rstrip(), cls._attributes.rstrip(), (see + rest).rstrip()]
            cls.__doc__ = "\n\n".join(part for part in parts if part) + "\n    "

    def _call(self, command: str) -> Call:
        return Call(command, n_jobs=self.n_jobs, random_state=self.random_state, memory_limit=self.memory_limit, verbose=self.verbose)

    def _give(self, call: Call, n: int, only: Optional[Collection[str]] = None, without: Collection[str] = ()) -> None:
        """Give a call the parameters that are not their defaults.

        Parameters
        ----------
        call : Call
        n : int
            Number of points, which bounds the number of neighbours.
        only : collection of str, default=None
            The parameters to give; None is all.
        without : collection of str
            Parameters not to give.
        """
        # A class of the user's own may have other parameters; the flags are those of the program.
        generated = next(c for c in type(self).__mro__ if c.__name__.endswith("Parameters"))
        for name, p in inspect.signature(generated).parameters.items():
            if name in _RUN or name in without or only is not None and name not in only:
                continue
            value = getattr(self, name)
            if name == "n_neighbors" and getattr(self, "radius", None) is None:
                value = _fewer(value if value is not None else p.default, n)
            if value is not None and not _equal(value, p.default):
                call.flag(flag_of(name), self._by_class(name, value) if isinstance(value, Mapping) else value)

    def _by_class(self, name: str, value: Mapping[Any, Any]) -> str:
        """Return a number for each class as flags have it."""
        raise ValueError(f"{name} is a dict, {value!r}, and {type(self).__name__} has no classes")

    def _ready(self) -> Optional[str]:
        """Return what X is in place of points: "metric", "weights" or "kernel", or None."""
        for name in ("metric", "weights", "kernel"):
            value = getattr(self, name, None)
            if isinstance(value, str) and value == PRECOMPUTED:
                return name
        return None

    def _more_tags(self) -> dict[str, Any]:
        """Return scikit-learn's tags: a matrix between points is square."""
        return {"pairwise": self._ready() is not None}

    def __sklearn_tags__(self) -> Any:
        """Return the tags that versions from 1.6 ask for."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._ready() is not None
        return tags

    def _points(self, X: Matrix, reset: bool) -> Any:
        """Check points, or a matrix between them, with the names of their columns."""
        data = X
        ready = self._ready()
        least = 2 if reset else 1
        if Files.are_names(X):
            X = Files(X)
            _versions.check_columns(self, X, X, reset)
            _at_least(X, least)
        elif isinstance(X, np.memmap) and X.ndim == 2:
            _versions.check_columns(self, X, X, reset)
            _at_least(X, least)
        else:
            # The program says where a value is that is not finite.
            X = check_array(X, accept_sparse="csr", ensure_min_samples=least, estimator=self, **_versions.ANY_VALUES)
            _versions.check_columns(self, X, data, reset)
        if ready and reset and X.shape[0] != X.shape[1]:
            raise ValueError(f"{ready} is precomputed, so X must be a square matrix between the points; it is {X.shape[0]}×{X.shape[1]}")
        return X

    def _give_points(self, call: Call, X: Any, graph: Matrix = None, without: Collection[str] = ()) -> None:
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
        self._give(call, n, without=[*without, *(given if graph is not None else ())])

    def _graph_of_distances(self, X: Any) -> bytes:
        """Return the file of the graph of a matrix of distances, dense or of the nearest."""
        n = X.shape[0]
        k = getattr(self, "n_neighbors")
        if k is None:
            k = inspect.signature(GraphParameters).parameters["n_neighbors"].default
        indices, distances = nearest_of_distances(X, _fewer(k, n))
        with self._call("graph") as call:
            call.input("--lists", "X", {"indices": indices, "distances": distances})
            call.flag("lists-kind", "distances")
            self._give(call, n, only=_EDGES)
            call.output("-o", "graph.npz")
            call.run()
            return call.bytes("graph.npz")

    def _learner(self, target: Array) -> tuple[str, Collection[str]]:
        """Return the learner for a target, and the parameters that it does not have."""
        return self._model, ()

    def _fit(self, X: Any, target: Array, flags: Mapping[str, Any], graph: Matrix,
             outputs: Optional[Mapping[str, Any]] = None, weights: Optional[Array] = None) -> dict[str, Array]:
        """Run fit; keep the model and return the answers for the training points. outputs are arrays by flag."""
        with self._call("fit") as call:
            model, without = self._learner(target)
            call.flag("model", model)
            self._give_points(call, X, graph, without)
            call.input("-y", "y", target)
            for name, array in (outputs or {}).items():
                call.input("--" + name.replace("_", "-"), name, array)
            if weights is not None:
                call.input("--label-weights", "sample_weight", weights)
            for name, value in flags.items():
                call.flag(name, value)
            return self._made(call)

    def _made(self, call: Call) -> dict[str, Array]:
        """Run fit or update; keep the model and return the answers, with the probabilities as "proba"."""
        call.output("-o", "fitted.npz")
        call.output("--predictions", "answers.npz")
        sure = self._has_probabilities()
        if sure:
            call.output("--proba", "proba.npy")
        self.summary_ = call.run()
        self._model_file = call.bytes("fitted.npz")
        answers = call.read("answers.npz")
        if sure:
            answers["proba"] = call.array("proba.npy")
        return answers

    def _has_probabilities(self) -> bool:
        """Return whether a fit finds probabilities of classes."""
        return False

    def _answer(self, X: Matrix, flag: Optional[str] = None) -> tuple[Array, Array]:
        """Run predict for points and return its answers, and the array of the file of a flag, or no rows."""
        check_is_fitted(self, "_model_file")
        X = self._points(X, reset=False)
        if self._ready() in ("metric", "weights"):
            raise ValueError(
                f"{type(self).__name__} was fitted to a ready graph, which has no place for new points; "
                "transduction_ has the answers for its own"
            )
        with self._call("predict") as call:
            call.input("", "model", self._model_file)
            call.input("-X", "X", X)
            call.output("-o", "answers.npy")
            if flag:
                call.output(flag, "more.npy")
            call.run()
            answers = call.array("answers.npy")
            return answers, call.array("more.npy") if flag else answers[:0]


class Loop(Estimator):
    """What a person who labels asks of a fitted model: points to label, labels to look at, a report.

    Models on a graph keep their points and labels. Of others, functions of a kernel or of
    the columns, X and y of the fit are given again.
    """

    def next(self, n: int = 50, *, rule: str = "combined", proba: Optional[Array] = None, X: Matrix = None, y: Matrix = None,
             graph: Matrix = None) -> NDArray[np.int64]:
        """Choose points whose labels would help most.

        Parameters
        ----------
        n : int, default=50
            Number of points.
        rule : {"combined", "vopt", "sopt", "uncertainty", "typical", "cover", "random"}, default="combined"
            Rule of the choice; see ``bigfit next --help``. Values have no uncertain class, so
            that "uncertainty" is refused there.
        proba : ndarray of shape (n_samples, n_classes), default=None
            Probabilities of another model, by which points are uncertain.
        X, y, graph : default=None
            What the model was fitted to, if it does not keep its points and labels.

        Returns
        -------
        rows : ndarray of int64, shape (n,)
            Rows of the points, the first one to label first.
        """
        with self._again("next", X, y, graph) as call:
            call.flag("count", n)
            call.flag("rule", rule)
            if proba is not None:
                call.input("--proba", "proba", np.asarray(proba))
            call.output("-o", "next.npz")
            call.run()
            return call.read("next.npz")["row"].astype(np.int64)

    def suspects(self, n: Optional[int] = None, *, folds: Optional[int] = None, proba: Optional[Array] = None, X: Matrix = None,
                 y: Matrix = None, graph: Matrix = None) -> dict[str, Array]:
        """List labels that disagree with what the model says of them when it does not know them.

        ``suspects_summary_`` then has the summary of the program, with "wrong", an estimate of
        how many labels are wrong.

        Parameters
        ----------
        n : int, default=None
            At most so many; None is all.
        folds : int, default=None
            Folds of labels to leave out anew; None takes the answers that the fit held out,
            where it did.
        proba : ndarray of shape (n_samples, n_classes), default=None
            Probabilities by a model that did not know the labels, in place of this one, with
            columns in the order of ``classes_``.
        X, y, graph : default=None
            What the model was fitted to, if it does not keep its points and labels.

        Returns
        -------
        suspects : dict of ndarray
            "row", and of classes "label" as given, "suggested" and "score", the largest first;
            of values "value", "predicted" and "score", the residual in units of its spread.
            ``pandas.DataFrame`` takes it.
        """
        with self._again("suspects", X, y, graph) as call:
            if n is not None:
                call.flag("count", n)
            if folds is not None:
                call.flag("folds", folds)
            if proba is not None:
                call.input("--proba", "proba", np.asarray(proba))
            call.output("-o", "suspects.npz")
            self.suspects_summary_ = call.run()
            found = call.read("suspects.npz")
        found.pop("manifest", None)
        return self._named(found)

    def _named(self, found: dict[str, Array]) -> dict[str, Array]:
        """Return a table with the labels in it by their names."""
        return found

    def report(self, path: Union[str, os.PathLike[str]], *, X: Matrix = None, y: Matrix = None, graph: Matrix = None) -> None:
        """Write a page on the model, its points and labels that can be handed on.

        Parameters
        ----------
        path : str or path-like
            File to write, .html. It needs no other files and no network.
        X, y, graph : default=None
            What the model was fitted to, if it does not keep its points and labels.
        """
        with self._again("report", X, y, graph) as call:
            call.file("-o", path)
            call.run()

    def _again(self, command: str, X: Matrix, y: Matrix, graph: Matrix) -> Call:
        """Return a call that has the model, and what it was fitted to as far as that is given."""
        check_is_fitted(self, "_model_file")
        call = self._call(command)
        call.input("", "model", self._model_file)
        if graph is not None:
            call.input("--graph", "graph", _matrix(graph, graph.shape[0]))
        if X is not None:
            X = self._points(X, reset=False)
            call.input("-X", "X", X)
            if graph is None and not isinstance(self, Updates):
                known = [name for name in GRAPH if hasattr(self, name) and name not in ("class_weights", "class_graphs")]
                self._give(call, X.shape[0], only=known)
        if y is not None:
            self._give_target(call, y)
        return call

    def _give_target(self, call: Call, y: Matrix) -> int:
        """Give a call labels or values as the model has them, and return their number."""
        raise NotImplementedError


class Updates(Loop):
    """Estimators whose models keep their points, and take more of them, and more labels."""

    def update(self: U, X: Matrix = None, y: Matrix = None) -> U:
        """Add points and labels, at a cost that depends on what is new.

        The settings stay, also those that a fit chose. ``transduction_`` and
        ``label_distributions_`` then have the new points behind the old ones.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features), default=None
            New points.
        y : array-like of shape (n_new,) or (n_samples + n_new,), default=None
            Labels or values of the new points, or of all points. The latter replace the ones
            before; where y marks a point as unlabeled, its label goes away.

        Returns
        -------
        self : object
        """
        check_is_fitted(self, "_model_file")
        if X is None and y is None:
            raise ValueError("update needs new points X, labels y, or both")
        with self._call("update") as call:
            call.input("", "model", self._model_file)
            new = 0
            if X is not None:
                if self._ready() in ("metric", "weights"):
                    raise ValueError(f"{type(self).__name__} was fitted to a ready graph, which has no place for new points")
                X = self._points(X, reset=False)
                new = X.shape[0]
                call.input("-X", "X", X)
            if y is not None:
                given = self._give_target(call, y)
                n = len(self.transduction_)
                if given not in ({n} if X is None else {new, n + new}):
                    raise ValueError(f"y has {given} entries; it must have one for each of the {new or n} {'new ' if new else ''}points"
                                     + (f", or of all {n + new}" if new else ""))
            self._take(self._made(call))
        return self

    def partial_fit(self: U, X: Matrix, y: Matrix = None, classes: Matrix = None) -> U:
        """Fit, or add points to what was fitted: see :meth:`update`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels or values, with marks for none as in fit.
        classes : array-like, default=None
            Not used: a class that is new joins ``classes_``.

        Returns
        -------
        self : object
        """
        if hasattr(self, "_model_file"):
            return self.update(X, y)
        self.fit(X, y)
        return self

    transduction_: Array

    def fit(self: U, X: Matrix, y: Matrix, graph: Matrix = None) -> U:
        """Fit to points of which some are labeled."""
        raise NotImplementedError

    def _take(self, answers: dict[str, Array]) -> None:
        """Keep the answers for the training points."""
        raise NotImplementedError


U = TypeVar("U", bound=Updates)

_COMMON_ATTRIBUTES = """
    summary_ : dict
        What the program says of the fit: settings, what was chosen and why, warnings.

    n_features_in_ : int
        Number of columns of X.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X has them.
"""


class Regressor(Loop):
    """An estimator of values. NaN in y marks points without one."""

    _attributes = (
        """    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,)
        The value of every training point, from the fit itself.
"""
        + _COMMON_ATTRIBUTES
    )
    transduction_: Array

    def fit(self: R, X: Matrix, y: Matrix, graph: Matrix = None) -> R:
        """Fit to points of which some have a value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All points, with and without a value; or names of .npy files, one below the other.
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
        self._take(self._fit(X, y, {"regression": True}, graph))
        return self

    def _values(self, y: Matrix) -> Array:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        return _finite_or_nan(y)

    def predict(self, X: Matrix) -> Array:
        """Return values of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._answer(X)[0]

    def _take(self, answers: dict[str, Array]) -> None:
        self.transduction_ = answers["value"]

    def _give_target(self, call: Call, y: Matrix) -> int:
        values = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        call.input("-y", "y", values)
        return len(values)

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


R = TypeVar("R", bound=Regressor)


def _calibrates(estimator: Classifier) -> bool:
    if not estimator._has_probabilities():
        raise AttributeError('calibrate is "none", so there are no probabilities')
    return True


class Classifier(Loop):
    """An estimator of classes. −1 in y marks points without a label, in text "" or "-1"."""

    #: Checks of scikit-learn that cannot pass, with the reason.
    _failures: ClassVar[dict[str, str]] = {"check_classifiers_classes": "it has labels -1 and 1, and -1 marks points without a label"}
    _attributes = (
        """    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels. A class that an update brings stands behind the others.

    transduction_ : ndarray of shape (n_samples,)
        The class of every training point, from the fit itself.

    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The probabilities of all classes for every training point; not with
        ``calibrate="none"``.
"""
        + _COMMON_ATTRIBUTES
    )
    calibrate: Union[int, str]
    classes_: Array
    transduction_: Array
    label_distributions_: Array
    _names: Array  # all classes, by their number in the model
    _numbers: Array  # numbers of classes_

    def fit(self: C, X: Matrix, y: Matrix, graph: Matrix = None, classes: Matrix = None) -> C:
        """Fit to points of which some are labeled.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All points, labeled and unlabeled; or names of .npy files, one below the other.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Labels. −1 marks points without one; among names also "", "-1", "?", "nan", None and NaN. Of several
            columns probabilities of the classes, of crowds or of other programs: rows of sum 1, and of
            NaN or zeros for points without a label. Models of one class a point refuse them.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            Symmetric weights in place of those of nearest neighbours.
        classes : array-like of shape (n_classes,), default=None
            The classes of the columns of probabilities; None takes the names of the columns of a
            table, or 0, 1, ….

        Returns
        -------
        self : object
        """
        return self._learn(X, y, graph, classes)

    def _learn(self: C, X: Matrix, y: Matrix, graph: Matrix, classes: Matrix, sample_weight: Matrix = None) -> C:
        """Fit to labels or probabilities, with weights or without."""
        X = self._points(X, reset=True)
        weights = None
        if sample_weight is not None:
            weights = column_or_1d(sample_weight).astype(np.float64)
            if len(weights) != X.shape[0]:
                raise ValueError(f"X has {X.shape[0]} samples and sample_weight has {len(weights)}: inconsistent numbers of samples")
        if _several_columns(y):
            p, names = shares(y, classes)
            _same_length(X, p)
            self._names = names
            self._take(self._fit(X, p, {"labels-as": "probabilities"}, graph, weights=weights))
            return self
        if classes is not None:
            raise ValueError("classes names the columns of probabilities, and y has one label a point")
        self._names, codes = encode(y, type(self).__name__)
        _same_length(X, codes)
        if len(self._names) < 2:
            raise ValueError(f"y has only one class, {self._names[0]!r}; at least two classes must have a label")
        flags = {"labels-as": "labels", "unlabeled": -1 if (codes < 0).any() else "none"}
        self._take(self._fit(X, codes, flags, graph, weights=weights))
        return self

    def predict(self, X: Matrix) -> Array:
        """Return the classes of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        codes, _ = self._answer(X)
        return self._names[codes]

    @available_if(_calibrates)
    def predict_proba(self, X: Matrix) -> Array:
        """Return the probabilities of all classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows of sum 1. Of equal probabilities the one
            of the answer is larger by one unit of rounding, so that ``argmax`` finds it.

        Notes
        -----
        ``summary_["calibration"]`` says how the probabilities were found, and whether they are
        rough, as with few labels. With ``calibrate="none"`` there is no such method.
        """
        codes, p = self._answer(X, "--proba")
        return self._agree(p, codes)

    def _by_class(self, name: str, value: Mapping[Any, Any]) -> str:
        classes = self._names.tolist()
        unknown = [key for key in value if key not in classes]
        if unknown:
            raise ValueError(f"{name} has {unknown!r}, and the classes of y are {classes!r}")
        # The program gives a single class without a number what the others leave.
        missing = [c for c in classes if c not in value]
        if len(missing) > 1:
            raise ValueError(f"{name} has no number for {missing!r}; give every class one, 0 to one without points")
        return ",".join(f"{classes.index(key)}:{float(number)!r}" for key, number in value.items())

    def _named(self, found: dict[str, Array]) -> dict[str, Array]:
        for name in ("label", "suggested"):
            found[name] = self._names[found[name].astype(np.int64)]
        return found

    def _has_probabilities(self) -> bool:
        return self.calibrate != "none"

    def _take(self, answers: dict[str, Array]) -> None:
        self._numbers = np.asarray(self.summary_["classes"], dtype=np.int64)
        self.classes_ = self._names[self._numbers]
        self.transduction_ = self._names[answers["label"]]
        if "proba" in answers:
            self.label_distributions_ = self._agree(answers["proba"], answers["label"])

    def _agree(self, p: Array, codes: Array) -> Array:
        """Return probabilities of which the one of the answer is the largest where several are equal."""
        rows = np.arange(len(p))
        columns = np.searchsorted(self._numbers, codes)
        tied = p[rows, columns] == p.max(axis=1)
        p[rows[tied], columns[tied]] = np.nextafter(p[rows[tied], columns[tied]], 2)
        return p

    def _give_target(self, call: Call, y: Matrix) -> int:
        if _several_columns(y):
            p, names = shares(y, self._names)
            call.input("-y", "y", p)
            call.flag("labels-as", "probabilities")
            return len(p)
        # Classes keep their numbers in the model; new ones get the numbers behind them.
        classes, codes = encode(y, type(self).__name__, least=0)
        new = classes[~np.isin(classes, self._names)]
        names = np.concatenate([self._names, new]) if len(new) else self._names
        place = {name: number for number, name in enumerate(names.tolist())}
        numbers = np.array([place[name] for name in classes.tolist()] + [-1], dtype=np.int64)
        call.input("-y", "y", numbers[codes])
        call.flag("unlabeled", -1)
        self._names = names
        return len(codes)

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True, "_xfail_checks": self._failures}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


C = TypeVar("C", bound=Classifier)


class Weighted(Classifier):
    """A classifier whose labels may have weights."""

    #: A weight belongs to a label; the point stays in the graph without it.
    _failures: ClassVar[dict[str, str]] = {
        **Classifier._failures,
        "check_sample_weights_invariance": "a weight of 0 takes the label away and leaves the point in the graph",
    }

    def fit(self: W, X: Matrix, y: Matrix, graph: Matrix = None, classes: Matrix = None, sample_weight: Matrix = None) -> W:
        """Fit to points of which some are labeled.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All points, labeled and unlabeled; or names of .npy files, one below the other.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Labels. −1 marks points without one; among names also "", "-1", "?", "nan", None and NaN. Of several
            columns probabilities of the classes, of crowds or of other programs: rows of sum 1, and of
            NaN or zeros for points without a label.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            Symmetric weights in place of those of nearest neighbours.
        classes : array-like of shape (n_classes,), default=None
            The classes of the columns of probabilities; None takes the names of the columns of a
            table, or 0, 1, ….
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of the label of each point: 2 counts like two labels of the point, and 0 like
            none. The point itself stays in the graph. Weights of points without a label do not matter.

        Returns
        -------
        self : object
        """
        return self._learn(X, y, graph, classes, sample_weight)


W = TypeVar("W", bound=Weighted)


class Margins(Classifier):
    """A classifier whose scores are functions of the points, with ``decision_function``."""

    def decision_function(self, X: Matrix) -> Array:
        """Return the scores of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes the score of the second, which wins where the score is positive;
            of more one each, of which the largest wins.
        """
        _, scores = self._answer(X, "--scores")
        return scores[:, 1] if scores.shape[1] == 2 else scores


def _several_columns(y: Matrix) -> bool:
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and len(y) and isinstance(y[0], (list, tuple, np.ndarray)):
        shape = np.shape(y)
    return shape is not None and len(shape) == 2 and shape[1] > 1


def shares(y: Matrix, classes: Matrix = None) -> tuple[NDArray[np.float64], Array]:
    """Return probabilities of classes and the classes of their columns.

    Parameters
    ----------
    y : array-like of shape (n, c)
        Rows of sum 1; of NaN or zeros for points without a label.
    classes : array-like of shape (c,), default=None
        None takes the names of the columns of a table, or 0, 1, ….

    Returns
    -------
    p : ndarray of float64, shape (n, c)
    classes : ndarray of shape (c,)
    """
    if classes is None and hasattr(y, "columns"):
        classes = list(y.columns)
    p = np.asarray(y)
    if p.dtype.kind not in "fiub":
        raise ValueError(f"y has {p.shape[1]} columns of {p.dtype}; give one label a point, or probabilities of classes")
    p = p.astype(np.float64)
    names = np.arange(p.shape[1]) if classes is None else np.asarray(classes)
    if names.shape != (p.shape[1],):
        raise ValueError(f"y has probabilities of {p.shape[1]} classes and classes names {names.size}")
    if len(np.unique(names)) != len(names):
        raise ValueError("classes names a class twice")
    return p, names


def encode(y: Matrix, name: str = "a classifier", least: int = 1) -> tuple[Array, NDArray[np.int64]]:
    """Return classes and their numbers, −1 for what is not labeled.

    Parameters
    ----------
    y : array-like of shape (n,)
        Integers of which −1 is unlabeled, or names, of which "", "-1", "?", "nan", "null", None, NaN and −1 are.
    name : str
        What messages call the estimator.
    least : int
        Points that must have a label.

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
        _warn_of_doubtful(set(y[~unlabeled].tolist()))
    else:
        unlabeled = y == -1
    labels = y[~unlabeled]
    if len(labels) < least:
        raise ValueError("y labels no point: all are -1; at least two classes must have a label")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity; -1 marks points without a label")
    if len(labels):
        check_classification_targets(labels)
    classes, inverse = np.unique(labels, return_inverse=True)
    codes = np.full(len(y), -1, dtype=np.int64)
    codes[~unlabeled] = inverse
    return classes, codes


# Texts that mark a point without a label, in any case, as in files; and texts that mark one there if the
# command is not told otherwise.
_NO_LABEL = {"", "-1", "?", "nan", "null", "<na>", "#n/a"}
_DOUBTFUL = {"none", "na", "n/a"}


def _is_unlabeled(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() in _NO_LABEL
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return True
    return isinstance(value, numbers.Real) and (value == -1 or value != value)


def _warn_of_doubtful(labels: set[Any]) -> None:
    """Warn of classes whose names may be meant to mark points without a label."""
    doubtful = sorted(v for v in labels if isinstance(v, str) and v.lower() in _DOUBTFUL)
    if doubtful:
        warn(f'{doubtful[0]!r} in y is taken as a class; None, NaN, "" or -1 marks points without a label')


def nearest_of_distances(X: Any, k: int) -> tuple[Array, Array]:
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


def _fewer(k: Any, n: int) -> Any:
    """Return the number of neighbours that n points have of the k that are asked for."""
    if k is None or n < 2 or not isinstance(k, (int, np.integer)) or k < n:
        return k
    warn(f"n_neighbors is {k} and there are {n} points; {n - 1} are taken")
    return n - 1


def _equal(value: Any, default: Any) -> bool:
    """Return whether a parameter has its default."""
    if value is default:
        return True
    if isinstance(value, (str, bool, int, float)) or default is None:
        return type(value) is type(default) and bool(value == default)
    return bool(np.array_equal(value, default))


def _matrix(graph: Matrix, n: int) -> Any:
    graph = sparse.csr_matrix(graph)
    if graph.shape != (n, n):
        raise ValueError(f"graph is {graph.shape[0]}×{graph.shape[1]} for {n} points; it must be a square matrix between them")
    return graph


def _same_length(X: Any, y: Any) -> None:
    if X.shape[0] != len(y):
        raise ValueError(f"X has {X.shape[0]} samples and y has {len(y)}: inconsistent numbers of samples")


def _finite_or_nan(y: Array) -> Array:
    if np.isinf(y).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    if np.isnan(y).all():
        raise ValueError("Input y contains NaN only; at least one point must have a value")
    return y


def _at_least(X: Any, least: int) -> None:
    if X.shape[0] < least:
        raise ValueError(f"Found array with {X.shape[0]} sample(s) (shape={X.shape}) while a minimum of {least} is required.")
