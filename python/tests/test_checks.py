"""scikit-learn's own checks of estimators.

Weights that a fit would choose by cross-validation are given, and the automatic choice has
two folds, as the checks are of the interface; ``BIGFIT_SOAK=1`` takes the defaults.
"""

import os
import traceback
import unittest
import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

import bigfit

WEIGHTS = {"gamma_a": 1e-3, "gamma_i": 1e-4, "smooth_alpha": 0.9}
ESTIMATORS = [name for name in bigfit.__all__ if hasattr(getattr(bigfit, name), "get_params")]
#: Expected failures, at most.
MOST = 2


def quick(estimator):
    """Return values for parameters that a fit would choose in a long time."""
    settings = {name: value for name, value in WEIGHTS.items() if name in estimator.get_params()}
    if getattr(estimator, "_model", "") == "auto":
        settings.update(folds=2, calibrate="none")
    return settings


@pytest.mark.parametrize("name", ESTIMATORS)
def test_check_estimator(name):
    estimator = getattr(bigfit, name)()
    if not os.environ.get("BIGFIT_SOAK"):
        estimator.set_params(**quick(estimator))
    expected = estimator._get_tags()["_xfail_checks"] or {}
    faults = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one, test in check_estimator(estimator, generate_only=True):
            try:
                test(one)
            except unittest.SkipTest:
                pass  # an expected failure, which the list of checks wraps so
            except Exception:
                faults.append(f"{getattr(test, 'func', test).__name__}:\n{traceback.format_exc()}")
    assert not faults, "\n".join(faults)
    assert len(expected) <= MOST


def test_all_are_checked():
    assert len(ESTIMATORS) >= 38
