"""A page in the browser that asks for labels."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _generated as parameters
from . import _hints
from ._base import Estimator, Loop, Matrix, _matrix, _same_length, encode
from ._run import Call, _environment, _stop, flag_of, warn
from .model_selection import AutoClassifier

__all__ = ["Labeling", "label"]


@dataclass
class Labeling:
    """Labels that people gave.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The label of each point: integers, −1 for none, where all classes are written as integers; else
        names, "" for none. Of several annotators what most say.
    predictions : ndarray of shape (n_samples,) or None
        The answers of the model for all points; None without a model.
    model : estimator or None
        The model, fitted to the labels. None if none was asked for, or with labels of fewer than two classes.
    labels_file : str
        The file of the labels, with a row for each answer.
    summary : dict
        "labeled" points, "estimate" of the error of the model beside the page, None below some forty labels,
        and "agreement", Krippendorff's α of the annotators, None where no two labeled one point.
    """

    labels: NDArray[Any]
    predictions: Optional[NDArray[Any]]
    model: Any
    labels_file: str
    summary: dict[str, Any]


class _Graph(Estimator, parameters.GraphParameters):
    """The parameters of the graph that the page and the model at the end share."""


def label(X: Matrix, y: Matrix = None, *, show: Any = None, folder: Union[str, os.PathLike[str], None] = None,
          ids: Matrix = None, classes: Sequence[Any] = (), annotator: str = "",
          labels_file: Union[str, os.PathLike[str]] = "labels.csv", target: float = 5.0, twice: float = 0.05,
          oracle: Matrix = None, n: int = 100, model: Any = "auto", graph: Matrix = None, open_browser: bool = True,
          listen: Optional[str] = None, hosts: Sequence[str] = (), random_state: Any = None, n_jobs: Optional[int] = None,
          memory_limit: Union[str, int, None] = None, verbose: int = 0, **graph_settings: Any) -> Labeling:
    """Label points on a page in the browser, which asks for the labels that help most.

    The page is served on this machine until ``Finish`` on it, or an interrupt: Ctrl-C, or the stop of a notebook.
    Then the model is fitted to all labels. Each label is in ``labels_file`` before the page says so, and the same
    call goes on from there. docs/label.md describes the page.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Points, or names of .npy files, one below the other.
    y : array-like of shape (n_samples,), default=None
        Labels to begin with, with marks for none as in fit. They do not join ``labels_file``.
    show : str, array-like of str of shape (n_samples,), dict or list of such, default=None
        What a person looks at. An array has a text or the name of a picture or sound for each point; a dict has
        several, by the names of their columns. A str is ``"image:28x28"`` for the points themselves, or
        ``"FILE:COLUMN"`` of a table. None shows square images, or the columns as bars.
    folder : path-like, default=None
        Folder of the files that ``show`` names; nothing outside is opened. None is the current one where ``show``
        is an array, else the folder of the table.
    ids : array-like of shape (n_samples,), default=None
        Ids of the points in ``labels_file``; None takes their rows.
    classes : sequence, default=()
        Classes that are there from the beginning, in the order of their keys.
    annotator : str, default=""
        Who labels. Several people may label into one file.
    labels_file : path-like, default="labels.csv"
        The file of the labels, which only grows.
    target : float, default=5.0
        The error in percent that is enough; the page says when.
    twice : float, default=0.05
        Share of the points that two annotators are given.
    oracle : array-like of shape (n_samples,), default=None
        Labels that answer in place of a person, through the same server, for campaigns and tests.
    n : int, default=100
        Number of questions that the oracle answers.
    model : {"auto"}, estimator or None, default="auto"
        What is fitted to the labels at the end: "auto" is ``AutoClassifier`` on the graph of the page. None fits
        nothing.
    graph : sparse matrix of shape (n_samples, n_samples), default=None
        Symmetric weights in place of those of nearest neighbours.
    open_browser : bool, default=True
        Open the page in the browser of this machine, if there is one with windows. The address is printed in any
        case. Others who use this machine may read it in the list of processes when the browser starts, so that
        False is better there.
    listen : str, default=None
        Address to serve the page at, as "127.0.0.1:8080"; None takes a port that is free.
    hosts : sequence of str, default=()
        Further names by which browsers reach this machine.
    random_state, n_jobs, memory_limit
        As of the estimators.
    verbose : int, default=0
        0 prints what a person who labels needs, on stderr; 1 the stages of the run too.
    **graph_settings
        n_neighbors, pca, metric and so on, as of :func:`bigfit.graph.knn_graph`. What is not given is
        chosen by the points, as ``AutoClassifier`` does.

    Returns
    -------
    labeling : Labeling
    """
    _hints.check(_Graph, (), graph_settings, "label")
    run: dict[str, Any] = dict(n_jobs=n_jobs, random_state=random_state, memory_limit=memory_limit, verbose=verbose)
    if isinstance(model, str):
        if model != "auto":
            raise ValueError(f'model is {model!r}; give "auto", an estimator, or None')
        model = AutoClassifier(**run, **graph_settings)
    if model is not None and not isinstance(model, Loop):
        raise ValueError(f'model is {model!r}; give "auto", an estimator of classes of this package, or None')
    points = _Graph(**run, **graph_settings)._points(X, reset=True)
    labels_file = os.path.abspath(labels_file)

    with _Page(open_browser and oracle is None, labels_file, **run) as call:
        call.input("-X", "X", points)
        if graph is not None:
            graph = _matrix(graph, points.shape[0])
            call.input("--graph", "graph", graph)
        for name, value in graph_settings.items():
            if value is not None:
                call.flag(flag_of(name), value)
        if ids is not None:
            call.input("--ids", "ids", _texts(ids, "ids", points.shape[0]))
        for flag, name, given in (("-y", "y", y), ("--headless", "oracle", oracle)):
            if given is not None:
                call.input(flag, name, _labels(given, points, name))

        if _give_shown(call, show, points.shape[0]) and folder is None:
            folder = os.getcwd()
        if folder is not None:
            call.file("--folder", folder)
        for c in classes:
            call.flag("classes", _field(str(c)))
        for host in hosts:
            call.flag("host", host)
        if listen is not None:
            call.flag("listen", listen)
        if annotator:
            call.flag("annotator", annotator)
        if oracle is not None:
            call.flag("count", n)
        call.flag("target", target)
        call.flag("twice", twice)
        call.flag("no-model", True)
        call.file("", labels_file)
        summary = call.run()

    labels = _aligned(summary, points.shape[0])
    summary = {name: summary[name] for name in ("points", "labeled", "classes", "estimate", "agreement")}
    if model is not None and len(summary["classes"]) < 2:
        warn(f"no model is fitted: it needs labels of two classes, and there are {len(summary['classes'])}")
        model = None
    if model is None:
        return Labeling(labels, None, None, labels_file, summary)
    model.fit(X, labels, **({} if graph is None else {"graph": graph}))
    return Labeling(labels, model.transduction_, model, labels_file, summary)


def _labels(y: Matrix, points: Any, name: str) -> NDArray[Any]:
    """Return labels as the program reads them: integers or texts, −1 for none."""
    classes, codes = encode(y, "label", least=0)
    _same_length(points, codes)
    if classes.dtype.kind not in "iu":
        classes = np.array([str(c) for c in classes.tolist()], dtype=str)
    known: NDArray[Any] = np.append(classes, np.asarray(-1, dtype=classes.dtype))
    return known[codes]


def _texts(values: Matrix, name: str, n: int) -> NDArray[Any]:
    """Return a text for each of n points, "" for None and NaN."""
    given = np.asarray(values)
    if given.shape != (n,):
        raise ValueError(f"{name} has the shape {given.shape}; it must have one entry for each of the {n} points")
    return np.array(["" if v is None or v != v else str(v) for v in given.tolist()], dtype=str)


def _field(text: str) -> str:
    """Return a text as one value of a flag that takes several."""
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def _give_shown(call: Call, show: Any, n: int) -> bool:
    """Give a call what is shown; return whether it is an array."""
    if show is None:
        return False
    if isinstance(show, (str, os.PathLike)):
        call.flag("show", os.fspath(show))
        return False
    if isinstance(show, Mapping):
        columns = {str(name): show[name] for name in show}
    elif isinstance(show, (list, tuple)) and len(show) != n:
        # Several of the above, one after the other.
        return any([_give_shown(call, one, n) for one in show])
    else:
        columns = {str(getattr(show, "name", None) or "text"): show}
    for name, texts in columns.items():
        call.column("show", name, _texts(texts, f"show[{name!r}]", n).tolist())
    return True


def _aligned(summary: Mapping[str, Any], n: int) -> NDArray[Any]:
    """Return a label for each of n points, of the labels that the program prints."""
    classes = np.array(summary["classes"])
    if classes.dtype.kind in "iu" or len(classes) == 0:
        labels: NDArray[Any] = np.full(n, -1, dtype=np.int64)
    else:
        labels = np.full(n, "", dtype=classes.dtype)
    rows = np.asarray(summary["rows"], dtype=np.int64)
    if len(rows):
        labels[rows] = classes[np.asarray(summary["codes"], dtype=np.int64)]
    return labels


class _Page(Call):
    """A run of ``bigfit label``: it says where the page is, and takes an interrupt as its end.

    Parameters
    ----------
    open_browser : bool
        Open the page when the program says where it is.
    labels_file : str
        File of the labels.
    **run
        As of :class:`Call`.
    """

    def __init__(self, open_browser: bool, labels_file: str, **run: Any) -> None:
        super().__init__("label", **run)
        self._open_browser = open_browser
        self._told = ("label: ", "annotators: ", f"{labels_file}: ")
        self._address = ""

    def _noted(self, note: str) -> None:
        if self.verbose < 1 and note.startswith(self._told):
            print(note, file=sys.stderr, flush=True)
        found = re.match(r"label: open (http://\S+)", note)
        if found:
            self._address = found.group(1)
            if self._open_browser:
                _open(self._address)

    def _spawn(self, words: list[str], stdout: Path) -> tuple[int, list[str], list[tuple[str, str]]]:
        # The program is in a group of its own, so that a terminal does not interrupt it beside Python: it would
        # take the second interrupt for the wish to end at once.
        apart: dict[str, Any] = {"start_new_session": True}
        interrupt = signal.SIGINT
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
            interrupt = signal.CTRL_BREAK_EVENT
        said: list[str] = []
        errors: list[tuple[str, str]] = []
        with open(stdout, "wb") as out:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=_environment(), **apart)
        asked = False
        try:
            assert process.stderr is not None
            with process.stderr:
                while True:
                    try:
                        for line in process.stderr:
                            self._event(line.decode("utf-8", "replace").rstrip("\r\n"), said, errors)
                        return process.wait(), said, errors
                    except KeyboardInterrupt:
                        # Before there is a page, and after the first interrupt, nothing is left to finish.
                        if asked or not self._address:
                            raise
                        asked = True
                        process.send_signal(interrupt)
        except BaseException:
            _stop(process)
            raise


def _open(address: str) -> None:
    """Open an address in a browser with windows; one in the terminal would take the terminal."""
    try:
        browser = webbrowser.get()
        if type(browser) is not webbrowser.GenericBrowser:
            browser.open(address)
    except webbrowser.Error:
        pass  # there is none, and the address is printed
