"""Errors for parameters that an estimator does not have, with the name that is meant."""

from __future__ import annotations

import difflib
import inspect
from typing import Any

#: What scikit-learn calls otherwise: the name here, and how values translate.
ELSEWHERE = {
    "C": ("gamma_a", "gamma_a = 1 / (2 · C · number of labels)"),
    "affinity": ("weights", 'affinity="precomputed" is weights="precomputed", "rbf" is weights="heat" of nearest neighbours'),
    "alpha": ("gamma_a", "the weight of the norm"),
    "coef0": ("offset", "offset = coef0"),
    "eigen_tol": ("tolerance", ""),
    "eps": ("tolerance", ""),
    "gamma": ("sigma", "sigma = 1 / sqrt(2 · gamma) of a Gaussian kernel"),
    "kernel": ("weights", 'the graph joins n_neighbors nearest points, as kernel="knn" does; weights="heat" weighs edges by distance'),
    "max_iter": ("max_iterations", "solvers stop at their tolerance; few need a bound"),
    "n_init": ("restarts", ""),
    "n_neighbors": ("vote", "the number of labeled points that vote"),
    "n_neighbours": ("n_neighbors", ""),
    "p": ("metric", 'p=1 is metric="manhattan", p=2 "euclidean"'),
    "probability": ("calibrate", 'probabilities are there unless calibrate="none"'),
    "algorithm": ("method", ""),
    "tol": ("tolerance", ""),
}


def check(cls: type, arguments: tuple[Any, ...], parameters: dict[str, Any], name: str = "") -> None:
    """Refuse arguments without a name, and parameters that a class does not have.

    Parameters
    ----------
    cls : type
        An estimator.
    arguments : tuple
        Arguments that were given without a name.
    parameters : dict
        Arguments that were given by name.
    name : str
        What messages call the class, if it is another name.

    Raises
    ------
    TypeError
        With the name of the estimator, and the parameter that may be meant.
    """
    name = name or cls.__name__
    parameters_of = list(inspect.signature(getattr(cls, "__init__")).parameters.values())[1:]
    if any(p.kind is not p.KEYWORD_ONLY for p in parameters_of):
        return  # a class of the user's own
    known = [p.name for p in parameters_of]
    if arguments:
        raise TypeError(f"{name} takes parameters by name only, as {name}({known[0]}=…); {len(arguments)} given without a name")
    for wrong in parameters:
        if wrong not in known:
            raise TypeError(f"{name} has no parameter {wrong!r}{_hint(wrong, known)}")


def _hint(wrong: str, known: list[str]) -> str:
    """Return the end of a message that says what may be meant."""
    if wrong in ELSEWHERE and ELSEWHERE[wrong][0] in known:
        here, how = ELSEWHERE[wrong]
        return f"; it has {here}" + (f": {how}" if how else "")
    near = difflib.get_close_matches(wrong, known, n=1, cutoff=0.7)
    if near:
        return f"; {near[0]!r} is near"
    return f"; it has {', '.join(known)}"
