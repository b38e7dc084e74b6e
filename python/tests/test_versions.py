"""The branches for scikit-learn from 1.6 on, against a stand-in of its contract: tags that are objects, an
argument of check_array with another name, and checks of columns that are functions."""

import importlib
import types

import numpy as np
import pytest
import sklearn
from sklearn import base, utils
from sklearn.utils import validation

import bigfit
from bigfit import _versions

NEW = tuple(int(v) for v in sklearn.__version__.split(".")[:2]) >= (1, 6)


@pytest.fixture
def tags(monkeypatch):
    """Give the bases the tags that 1.6 gives them, where they have none."""
    if NEW:
        return

    def of_base(self):
        return types.SimpleNamespace(
            estimator_type=None,
            target_tags=types.SimpleNamespace(required=False),
            input_tags=types.SimpleNamespace(sparse=False, pairwise=False),
        )

    def of(kind, parent):
        def __sklearn_tags__(self):
            found = super(parent, self).__sklearn_tags__()
            found.estimator_type = kind
            found.target_tags.required = kind != "outlier_detector"
            return found

        return __sklearn_tags__

    monkeypatch.setattr(base.BaseEstimator, "__sklearn_tags__", of_base, raising=False)
    for parent, kind in ((base.ClassifierMixin, "classifier"), (base.RegressorMixin, "regressor"), (base.OutlierMixin, "outlier_detector")):
        monkeypatch.setattr(parent, "__sklearn_tags__", of(kind, parent), raising=False)


@pytest.mark.parametrize("estimator, kind, required, pairwise", [
    (bigfit.LabelSpreading(), "classifier", True, False),
    (bigfit.LabelSpreading(metric="precomputed"), "classifier", True, True),
    (bigfit.LapSVC(kernel="precomputed"), "classifier", True, True),
    (bigfit.TSVC(), "classifier", True, False),
    (bigfit.SVR(), "regressor", True, False),
    (bigfit.MultiOutputManifold(), "regressor", True, False),
    (bigfit.OneClassSVM(), "outlier_detector", False, False),
])
def test_tags(tags, estimator, kind, required, pairwise):
    found = estimator.__sklearn_tags__()
    assert found.estimator_type == kind and found.target_tags.required == required
    assert found.input_tags.sparse and found.input_tags.pairwise == pairwise


def test_name_of_the_argument(monkeypatch):
    def check_array(X, *, ensure_all_finite=True):
        return X

    monkeypatch.setattr(utils, "check_array", check_array)
    try:
        assert importlib.reload(_versions).ANY_VALUES == {"ensure_all_finite": False}
    finally:
        monkeypatch.undo()
        importlib.reload(_versions)
    assert utils.check_array([[np.nan]], **_versions.ANY_VALUES).shape == (1, 1)


def test_checks_of_columns_are_functions(monkeypatch):
    asked = []
    monkeypatch.setattr(validation, "_check_n_features", lambda *given, reset: asked.append(("number", *given, reset)), raising=False)
    monkeypatch.setattr(validation, "_check_feature_names", lambda *given, reset: asked.append(("names", *given, reset)), raising=False)
    estimator = object()  # without the methods that estimators had until 1.5
    _versions.check_columns(estimator, "X", "table", True)
    assert asked == [("number", estimator, "X", True), ("names", estimator, "table", True)]
