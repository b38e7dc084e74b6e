"""Classifiers and regressors that learn from a few labels and many unlabeled points."""

from sklearn.base import ClassifierMixin, RegressorMixin

from . import _generated as parameters
from ._base import Classifier, Margins, Regressor

__all__ = [
    "EigenmapClassifier",
    "LabelPropagation",
    "LabelSpreading",
    "LapRLSClassifier",
    "LapRLSRegressor",
    "LapSVC",
    "LinearLapRLSClassifier",
    "LinearLapRLSRegressor",
    "LinearLapSVC",
    "Poisson",
    "SSSLRegressor",
]



class LabelSpreading(ClassifierMixin, Classifier, parameters.LgcParameters):
    """Label spreading, local and global consistency, on the graph of nearest neighbours.

    The scores are F = (1 − α)(I − αS)⁻¹Y with S = D^{-1/2} W D^{-1/2}, solved to the
    tolerance and not iterated a fixed number of times; Zhou et al. 2003.

    See Also
    --------
    sklearn.semi_supervised.LabelSpreading : The same with ``kernel="knn"``, where alpha
        is 0.2 by default.
    """

    _failures = {}


class LabelPropagation(ClassifierMixin, Classifier, parameters.HarmonicParameters):
    """Label propagation: the harmonic function that has the given labels; Zhu et al. 2003."""

    _failures = {}


class Poisson(ClassifierMixin, Classifier, parameters.PoissonParameters):
    """Poisson learning, for very few labels; Calder et al. 2020."""


class EigenmapClassifier(ClassifierMixin, Classifier, parameters.EigenmapParameters):
    """Least squares on the first eigenvectors of the Laplacian; Belkin & Niyogi 2004.

    New points get the class that most of the nearest training points have, and the mean
    of their probabilities, which is nearly always largest for that class.
    """

    _failures = {
        **Classifier._failures,
        "check_classifiers_train": "new points are voted on, and of 200 points one has two votes of little probability against a certain one",
    }


class LapRLSClassifier(ClassifierMixin, Margins, Classifier, parameters.LaprlsParameters):
    """Laplacian regularized least squares with a kernel; Belkin, Niyogi & Sindhwani 2006.

    Weights gamma_a and gamma_i that are not given are chosen by cross-validation on the
    labels. Functions are defined everywhere, so that new points need no graph.
    """


class LapSVC(ClassifierMixin, Margins, Classifier, parameters.LapsvmParameters):
    """Laplacian support vector machine with a kernel; Belkin, Niyogi & Sindhwani 2006."""


class LinearLapRLSClassifier(ClassifierMixin, Margins, Classifier, parameters.LaprlsLinearParameters):
    """Laplacian regularized least squares, linear in the columns of X; dense or sparse."""


class LinearLapSVC(ClassifierMixin, Margins, Classifier, parameters.LapsvmLinearParameters):
    """Laplacian support vector machine, linear in the columns of X; dense or sparse."""


class LapRLSRegressor(RegressorMixin, Regressor, parameters.LaprlsParameters):
    """Laplacian regularized least squares with a kernel, for values."""


class LinearLapRLSRegressor(RegressorMixin, Regressor, parameters.LaprlsLinearParameters):
    """Laplacian regularized least squares for values, linear in the columns of X."""


class SSSLRegressor(RegressorMixin, Regressor, parameters.SsslParameters):
    """Least squares on eigenfunctions of a kernel over all points; Ji et al. 2012."""
