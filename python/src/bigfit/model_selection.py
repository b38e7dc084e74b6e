"""The choice among models by the labels, and folds for points of which few are labeled."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import column_or_1d, indexable

from . import _generated as parameters
from ._base import Classifier, Regressor, Updates, encode

__all__ = ["AutoClassifier", "AutoRegressor", "LabeledKFold"]


class AutoClassifier(ClassifierMixin, Classifier, Updates, parameters.AutoParameters):
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

    def __init__(self, n_splits=5, *, random_state=None):
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X=None, y=None, groups=None):
        """Return the number of folds."""
        return self.n_splits

    def split(self, X, y, groups=None):
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
        settings = dict(n_splits=self.n_splits, shuffle=True, random_state=self.random_state)
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
