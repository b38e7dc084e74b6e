"""Parameters are those of the program, and estimators follow scikit-learn's conventions."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin, clone

import bigfit
from bigfit import _generated, _run
from bigfit._base import Weighted

ESTIMATORS = [c for c in vars(bigfit).values() if isinstance(c, type) and issubclass(c, BaseEstimator)]
HERE = Path(__file__).parents[1]


def test_generated_is_up_to_date():
    done = subprocess.run([sys.executable, HERE / "generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_learner_has_an_estimator():
    """Of each kind of targets that a learner of the program learns, by the program's own list."""
    kinds = {"classes": ClassifierMixin, "values": RegressorMixin, "labels": RegressorMixin, "inside": OutlierMixin,
             "shares": ClassifierMixin, "weights": Weighted}
    for learner, learns in _generated.LEARNERS.items():
        for kind in learns:
            assert [e for e in ESTIMATORS if getattr(e, "_model", "") == learner and issubclass(e, kinds[kind])], (learner, kind)
    assert len(_generated.LEARNERS) >= 25


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_documentation(estimator):
    doc = inspect.getdoc(estimator)
    assert doc.count("\nParameters\n") == doc.count("\nAttributes\n") == 1
    for name in inspect.signature(estimator).parameters:
        assert f"\n{name} : " in doc
    assert not re.search("--[a-z]", doc)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_and_set_params(estimator):
    e = estimator(random_state=5)
    e.set_params(verbose=1)
    same = clone(e).get_params()
    assert same == e.get_params()
    assert same["random_state"] == 5 and same["verbose"] == 1


def test_names_go_both_ways():
    for parameters in vars(_generated).values():
        if isinstance(parameters, type) and parameters is not BaseEstimator:
            for name in inspect.signature(parameters).parameters:
                if name not in ("random_state", "n_jobs"):
                    assert _run.parameter(_run.flag_of(name)) == name


def test_errors_name_parameters(blobs):
    X, y, _ = blobs
    for wrong, message in {
        "alpha": "alpha is 3; it must be between 0 and 1",
        "n_neighbors": "n_neighbors is -1; it must be at least 1",
        "metric": "metric is \"far\"; it must be euclidean",
        "memory_limit": "memory_limit",
    }.items():
        value = {"alpha": 3, "n_neighbors": -1, "metric": "far", "memory_limit": "much"}[wrong]
        with pytest.raises(ValueError, match=message):
            bigfit.LabelSpreading(**{wrong: value}).fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="X: row 3, column 1 is NaN"):
        bigfit.LabelSpreading().fit(X, y)


def test_type_errors_name_the_estimator():
    for cls, wrong, message in (
        (bigfit.LabelSpreading, "max_iter", "LabelSpreading has no parameter 'max_iter'; it has max_iterations"),
        (bigfit.LabelSpreading, "kernel", "LabelSpreading has no parameter 'kernel'; it has weights: .*n_neighbors"),
        (bigfit.LapSVC, "C", r"LapSVC has no parameter 'C'; it has gamma_a: gamma_a = 1 / \(2 · C · number of labels\)"),
        (bigfit.SVC, "gamma", r"SVC has no parameter 'gamma'; it has sigma: sigma = 1 / sqrt\(2 · gamma\)"),
        (bigfit.KNeighborsClassifier, "n_neighbors", "KNeighborsClassifier has no parameter 'n_neighbors'; it has vote"),
        (bigfit.SpectralClustering, "n_init", "SpectralClustering has no parameter 'n_init'; it has restarts"),
        (bigfit.Poisson, "neighbors", "Poisson has no parameter 'neighbors'; 'n_neighbors' is near"),
        (bigfit.Poisson, "zzz", "Poisson has no parameter 'zzz'; it has priors, class_shares, tolerance"),
    ):
        with pytest.raises(TypeError, match="^" + message):
            cls(**{wrong: 1})
    with pytest.raises(TypeError, match="^LabelSpreading takes parameters by name only, as LabelSpreading\\(alpha=…\\); 1 given"):
        bigfit.LabelSpreading(0.9)
    with pytest.raises(TypeError, match="^knn_graph has no parameter 'n_neighbours'"):
        bigfit.graph.knn_graph(np.eye(3), n_neighbours=5)


@pytest.mark.filterwarnings("ignore:a class.s share of the points differs")
def test_priors_by_class(blobs):
    """A dict of classes is the list in their order, and may leave one class out; others are refused by their names."""
    X, _, truth = blobs
    names = np.array(["z" if c else "a" for c in truth])
    y = names.astype(object)
    y[np.arange(len(y)) % 10 != 0] = None
    want = bigfit.PoissonMBO(priors=[0.3, 0.7]).fit(X, y)
    for given in ({"z": 0.7, "a": 0.3}, {"z": 0.7}):
        m = bigfit.PoissonMBO(priors=given).fit(X, y)
        np.testing.assert_allclose(m.summary_["shares"], want.summary_["shares"])
        assert (m.transduction_ == want.transduction_).all()
        assert 0.25 < np.mean(m.transduction_ == "a") < 0.35
    with pytest.raises(ValueError, match=r"priors has \['b'\], and the classes of y are \['a', 'z'\]"):
        bigfit.PoissonMBO(priors={"a": 0.3, "b": 0.7}).fit(X, y)
    with pytest.raises(ValueError, match=r"priors has no number for \['a', 'z'\]"):
        bigfit.AutoClassifier(priors={}).fit(X, y)


def test_subclasses(blobs):
    X, y, _ = blobs

    class Mine(bigfit.LabelSpreading):
        def __init__(self, power=1):
            super().__init__(alpha=0.9**power)
            self.power = power

    m = Mine(2).fit(X, y)
    assert m.alpha == 0.9**2 and clone(Mine(power=3)).power == 3


def test_type_hints():
    """mypy --strict, where it is installed; the marker says to other checkers that there are hints."""
    assert (HERE / "src" / "bigfit" / "py.typed").exists()
    if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode != 0:
        pytest.skip("mypy is not installed")
    words = [sys.executable, "-m", "mypy", "--config-file", HERE / "pyproject.toml", "--cache-dir", os.devnull]
    done = subprocess.run(words, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
