"""What versions of scikit-learn call by different names."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.utils import check_array, validation

#: Argument of ``check_array`` that lets NaN and infinity pass; another name from 1.6 on.
ANY_VALUES = {"force_all_finite" if "force_all_finite" in inspect.signature(check_array).parameters else "ensure_all_finite": False}


def check_columns(estimator: Any, X: Any, data: Any, reset: bool) -> None:
    """Check the number of columns of X and their names in data, or take them if reset.

    Until 1.5 these are methods of estimators, then functions.
    """
    if hasattr(estimator, "_check_n_features"):
        estimator._check_n_features(X, reset=reset)
        estimator._check_feature_names(data, reset=reset)
    else:
        validation._check_n_features(estimator, X, reset=reset)
        validation._check_feature_names(estimator, data, reset=reset)
