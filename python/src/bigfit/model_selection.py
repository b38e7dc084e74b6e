"""The choice among models by the labels, comparisons, and folds for points of which few are labeled."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import column_or_1d, indexable

from . import _generated as parameters
from . import _hints
from ._base import Estimator, Loop, Matrix, Regressor, Updates, Weighted, _equal, _matrix, _same_length, encode
from ._run import _text, flag_of

__all__ = ["AutoClassifier", "AutoRegressor", "LabeledKFold", "audit", "compare", "first_points"]


class AutoClassifier(ClassifierMixin, Weighted, Updates, parameters.AutoParameters):
    """The mean of models that a cross-validation on the labels chooses among many.

    ``summary_["auto"]`` has the members, their weights and the error that the
    cross-validation measured. Parameters of the graph that are None follow from the points.
    """


class AutoRegressor(RegressorMixin, Regressor, Updates, parameters.AutoParameters):
    """The mean of models for values that a cross-validation chooses among many."""


class LabeledKFold:
    """Folds of the labeled points alone; those without a label are in every training set.

    ``GridSearchCV(LapSVC(), grid, cv=LabeledKFold())`` measures a semi-supervised model
    by labels that it was not given. Other splitters put points without a label into the
    test sets, where every answer for them counts as an error.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which labels are dealt.
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Matrix = None, y: Matrix = None, groups: None = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Matrix, y: Matrix, groups: None = None) -> Iterator[tuple[Any, Any]]:
        """Yield the rows of training and test sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels with -1 for none, or values with NaN for none.
        groups : None
            Not used.

        Yields
        ------
        train, test : ndarray of int
        """
        X, y = indexable(X, y)
        y = column_or_1d(y)
        settings: dict[str, Any] = dict(n_splits=self.n_splits, shuffle=True, random_state=self.random_state)
        if y.dtype.kind == "f":
            known, target, folds = np.flatnonzero(~np.isnan(y)), None, KFold(**settings)
        else:
            _, codes = encode(y)
            known = np.flatnonzero(codes >= 0)
            target, folds = codes[known], StratifiedKFold(**settings)
        for _, part in folds.split(known, target):
            test = known[part]
            train = np.ones(len(y), dtype=bool)
            train[test] = False
            yield np.flatnonzero(train), test


class _Graph(Estimator, parameters.GraphParameters):
    """The parameters of the graph that compared models share."""


def first_points(X: Matrix = None, n: int = 50, *, rule: str = "combined", graph: Matrix = None, random_state: Any = None,
                 n_jobs: Optional[int] = None, memory_limit: Union[str, int, None] = None, verbose: int = 0,
                 **graph_settings: Any) -> NDArray[np.int64]:
    """Choose the points to label first, before any point has a label.

    Label them and fit ``AutoClassifier`` or another estimator; its ``next`` chooses further points.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), default=None
        Points, or names of .npy files, one below the other. None with a graph.
    n : int, default=50
        Number of points.
    rule : {"combined", "sopt", "vopt", "typical", "cover", "random"}, default="combined"
        Rule of the choice; see ``bigfit next --help``.
    graph : sparse matrix of shape (n_samples, n_samples), default=None
        Symmetric weights in place of those of nearest neighbours.
    random_state, n_jobs, memory_limit, verbose
        As of the estimators.
    **graph_settings
        n_neighbors, pca, metric and so on, as of :func:`bigfit.graph.knn_graph`. What is not given is
        chosen by the points, as ``AutoClassifier`` does.

    Returns
    -------
    rows : ndarray of int64, shape (n,)
        Rows of the points, the first one to label first.
    """
    if X is None and graph is None:
        raise ValueError("first_points needs points X or a graph of them")
    _hints.check(_Graph, (), graph_settings, "first_points")
    made = _Graph(n_jobs=n_jobs, random_state=random_state, memory_limit=memory_limit, verbose=verbose, **graph_settings)
    with made._call("next") as call:
        if X is not None:
            points = made._points(X, reset=True)
            call.input("-X", "X", points)
        if graph is not None:
            call.input("--graph", "graph", _matrix(graph, graph.shape[0] if X is None else points.shape[0]))
        for name, value in graph_settings.items():
            if value is not None:
                call.flag(flag_of(name), value)
        call.flag("count", n)
        call.flag("rule", rule)
        call.output("-o", "next.npz")
        call.run()
        return call.read("next.npz")["row"].astype(np.int64)


def audit(X: Matrix, y: Matrix = None, *, regression: bool = False, votes: int = 5,
          report: Union[str, os.PathLike[str], None] = None, random_state: Any = None, n_jobs: Optional[int] = None,
          memory_limit: Union[str, int, None] = None, verbose: int = 0, **graph_settings: Any) -> dict[str, Any]:
    """Look for faults in points and in their labels or values, by the nearest neighbours of the points.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Points, or names of .npy files, one below the other. Rows with NaN are counted and left out.
    y : array-like of shape (n_samples,), default=None
        Labels or values, with marks for none as in fit.
    regression : bool, default=False
        y holds values, NaN where there is none.
    votes : int, default=5
        Neighbours that vote in the value of a label.
    report : path-like, default=None
        Page to write, .html.
    random_state, n_jobs, memory_limit, verbose
        As of the estimators.
    **graph_settings
        n_neighbors, pca, metric and so on, as of :func:`bigfit.graph.knn_graph`.

    Returns
    -------
    found : dict
        "summary" is what the command prints as JSON. The other entries are arrays with an element for each
        point: "row", "issues" (names with spaces between), "duplicate", "near_duplicate", "outlier", and of
        labels "label", "suggested" (None where it agrees), "suspect" and "worth". docs/audit.md has their formulas.
    """
    _hints.check(_Graph, (), graph_settings, "audit")
    made = _Graph(n_jobs=n_jobs, random_state=random_state, memory_limit=memory_limit, verbose=verbose, **graph_settings)
    points = made._points(X, reset=True)
    names: Any = None
    with made._call("audit") as call:
        call.input("-X", "X", points)
        if y is not None:
            if regression:
                target = column_or_1d(y, warn=True).astype(np.float64, copy=False)
                call.flag("regression", True)
            else:
                names, target = encode(y, "audit")
                if (target < 0).any():
                    call.flag("unlabeled", -1)
            _same_length(points, target)
            call.input("-y", "y", target)
        for name, value in graph_settings.items():
            if value is not None:
                call.flag(flag_of(name), value)
        call.flag("votes", votes)
        call.output("-o", "audit.npz")
        if report is None:
            call.flag("report", "none")
        else:
            call.file("--report", report)
        summary = call.run()
        found: dict[str, Any] = dict(call.read("audit.npz"))
    found.pop("manifest", None)
    if names is not None:
        for column in ("label", "suggested"):
            if column in found:
                found[column] = np.array([names[int(c)] if c else None for c in found[column]], dtype=object)
    found["summary"] = summary
    return found


def compare(models: Sequence[Any], X: Matrix, y: Matrix, *, labels: Union[int, Sequence[int], None] = None,
            labels_per_class: Union[int, Sequence[int], None] = None, splits: Union[int, Matrix] = 10, metric: str = "default",
            tune: bool = False, settings: Optional[Mapping[str, Any]] = None, against: str = "best", regression: bool = False,
            graph: Matrix = None, folds: int = 5, repeats: int = 1, outputs: Sequence[Union[str, os.PathLike[str]]] = (),
            random_state: Any = None, n_jobs: Optional[int] = None, memory_limit: Union[str, int, None] = None, verbose: int = 0,
            **graph_settings: Any) -> dict[str, Any]:
    """Fit models to some of the labels and measure them on the others, over splits that all share.

    Parameters
    ----------
    models : sequence
        Names of learners, as "lgc", and estimators or their classes, one of each learner. The
        parameters of an estimator that are not defaults are those of its learner; the graph is
        the same for all.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Points, or names of .npy files, one below the other.
    y : array-like of shape (n_samples,)
        Labels or values, with marks for none as in fit.
    labels, labels_per_class : int or sequence of int, default=None
        Labels that a model is given, in all or of each class; several make a learning curve.
        One of the two is needed, unless splits are given.
    splits : int or ndarray of shape (n_splits, n_labels), default=10
        Number of splits to draw, or the rows that have a label in each.
    metric : {"default", "error", "rmse", "f1", "prbep", "auc"}, default="default"
        Measure; default is the error in percent, or the root mean squared error of values.
    tune : bool, default=False
        Choose all parameters that have a documented grid, in every split.
    settings : dict, default=None
        Values by "learner.parameter"; of several the best in each split is taken.
    against : str, default="best"
        Name of the learner that the others are compared with.
    regression : bool, default=False
        y holds values, NaN where there is none.
    graph : sparse matrix of shape (n_samples, n_samples), default=None
        Symmetric weights in place of those of nearest neighbours.
    folds, repeats : int
        Of the cross-validation within a split.
    outputs : sequence of path-like, default=()
        Files to write: tables .md, .csv, .tex, .json; a picture .svg, .png, .pdf; a report .html.
    random_state, n_jobs, memory_limit, verbose
        As of the estimators.
    **graph_settings
        n_neighbors, metric of the graph as ``distance``, weights and so on, as of
        :func:`bigfit.graph.knn_graph`.

    Returns
    -------
    result : dict
        "table" is a list of records, one for each model and number of labels, with mean, std
        and the paired differences: ``pandas.DataFrame(result["table"])``. "fits" has each fit.
    """
    if "distance" in graph_settings:
        graph_settings["metric"] = graph_settings.pop("distance")
    _hints.check(_Graph, (), graph_settings, "compare")
    made = _Graph(n_jobs=n_jobs, random_state=random_state, memory_limit=memory_limit, verbose=verbose, **graph_settings)
    points = made._points(X, reset=True)
    if regression:
        target = column_or_1d(y, warn=True).astype(np.float64, copy=False)
    else:
        _, target = encode(y, "compare")
    _same_length(points, target)
    names, given = _learners(models)
    with made._call("compare") as call:
        call.flag("models", ",".join(names))
        made._give_points(call, points, None if graph is None else _matrix(graph, points.shape[0]))
        call.input("-y", "y", target)
        if regression:
            call.flag("regression", True)
        elif (target < 0).any():
            call.flag("unlabeled", -1)
        for name, value in (("labels", labels), ("labels-per-class", labels_per_class)):
            if value is not None:
                call.flag(name, value)
        if np.ndim(splits) == 0:
            call.flag("splits", splits)
        else:
            call.input("--splits", "splits", np.asarray(splits))
        call.flag("metric", metric)
        call.flag("against", against)
        call.flag("folds", folds)
        call.flag("repeats", repeats)
        if tune:
            call.flag("tune", True)
        for name, value in {**given, **(settings or {})}.items():
            learner, _, parameter = name.partition(".")
            call.flag("set", f"{learner}.{flag_of(parameter)}={_text(value)}")
        for path in outputs:
            extension = os.path.splitext(path)[1].lower()
            call.file({".html": "--report", ".svg": "--plot", ".png": "--plot", ".pdf": "--plot"}.get(extension, "-o"), path)
        return call.run()


def _learners(models: Sequence[Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the learners of models, and their parameters that are not defaults."""
    names: list[str] = []
    given: dict[str, Any] = {}
    for model in models:
        if isinstance(model, str):
            names.append(model)
            continue
        learner = getattr(model, "_model", None)
        if learner is None:
            raise ValueError(f"{model!r} is neither the name of a learner nor an estimator of labels or values")
        names.append(learner)
        if isinstance(model, Loop):
            shared = {*parameters.GRAPH, "calibrate", "random_state", "n_jobs", "memory_limit", "verbose"}
            for name, p in inspect.signature(type(model)).parameters.items():
                value = getattr(model, name)
                if name not in shared and not _equal(value, p.default):
                    given[f"{learner}.{name}"] = value
    if len(set(names)) < len(names):
        raise ValueError(f"a learner is named twice among {', '.join(names)}; give several values of a parameter by settings")
    return names, given
