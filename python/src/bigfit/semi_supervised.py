"""Classifiers and regressors that learn from a few labels and many unlabeled points."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.utils import column_or_1d

from . import _generated as parameters
from ._base import _COMMON_ATTRIBUTES, Array, Classifier, Estimator, Margins, Matrix, Regressor, Updates, Weighted, _same_length
from ._run import warn

__all__ = [
    "CorrectAndSmoothClassifier",
    "CutClassifier",
    "EigenmapClassifier",
    "GeodesicClassifier",
    "HarmonicRegressor",
    "KNeighborsClassifier",
    "LabelPropagation",
    "LabelSpreading",
    "LapOneClassSVM",
    "LapRLSClassifier",
    "LapRLSRegressor",
    "LapSVC",
    "LapSVR",
    "LinearLapRLSClassifier",
    "LinearLapRLSRegressor",
    "LinearLapSVC",
    "LinearRLSClassifier",
    "LinearRLSRegressor",
    "LinearSVC",
    "LinearTSVC",
    "OneClassSVM",
    "Poisson",
    "PoissonMBO",
    "RLSClassifier",
    "RLSRegressor",
    "ReweightedClassifier",
    "ReweightedRegressor",
    "SSSLClassifier",
    "SSSLRegressor",
    "SVC",
    "SVR",
    "TSVC",
    "TikhonovClassifier",
    "TikhonovRegressor",
]


class LabelSpreading(ClassifierMixin, Weighted, Updates, parameters.LgcParameters):
    """Label spreading, local and global consistency, on the graph of nearest neighbours.

    The scores are F = (1 − α)(I − αS)⁻¹Y with S = D^{-1/2} W D^{-1/2}, solved to the
    tolerance and not iterated a fixed number of times; Zhou et al. 2003.

    See Also
    --------
    sklearn.semi_supervised.LabelSpreading : The same with ``kernel="knn"``, where alpha
        is 0.2 by default.
    """

    _failures: ClassVar[dict[str, str]] = {
        "check_sample_weights_invariance": Weighted._failures["check_sample_weights_invariance"]
    }


class LabelPropagation(ClassifierMixin, Classifier, Updates, parameters.HarmonicParameters):
    """Label propagation: the harmonic function that has the given labels; Zhu et al. 2003."""

    _failures: ClassVar[dict[str, str]] = {}


class HarmonicRegressor(RegressorMixin, Regressor, Updates, parameters.HarmonicParameters):
    """The harmonic function that has the given values; Zhu et al. 2003."""


class TikhonovClassifier(ClassifierMixin, Weighted, Updates, parameters.TikhonovParameters):
    """Least squares with both norms on the graph alone; Belkin, Matveeva & Niyogi 2004."""


class TikhonovRegressor(RegressorMixin, Regressor, Updates, parameters.TikhonovParameters):
    """Least squares for values with both norms on the graph alone; Belkin, Matveeva & Niyogi 2004."""


class Poisson(ClassifierMixin, Weighted, Updates, parameters.PoissonParameters):
    """Poisson learning, for very few labels; Calder et al. 2020."""


class PoissonMBO(ClassifierMixin, Weighted, Updates, parameters.PoissonMboParameters):
    """Poisson learning, then the smallest cut with classes of given sizes; Calder et al. 2020."""


class CutClassifier(ClassifierMixin, Classifier, Updates, parameters.CutParameters):
    """The smallest cut with classes of given sizes; Holtz, Chen, Mishne & Cloninger 2024 (CutSSL)."""


class ReweightedClassifier(ClassifierMixin, Weighted, Updates, parameters.ReweightedParameters):
    """Harmonic functions on weights that grow towards the labels; Miller & Calder 2023."""


class ReweightedRegressor(RegressorMixin, Regressor, Updates, parameters.ReweightedParameters):
    """Harmonic functions for values on weights that grow towards them; Miller & Calder 2023."""


class EigenmapClassifier(ClassifierMixin, Classifier, Updates, parameters.EigenmapParameters):
    """Least squares on the first eigenvectors of the Laplacian; Belkin & Niyogi 2004.

    New points get the class that most of the nearest training points have, and the mean
    of their probabilities, which is nearly always largest for that class.
    """

    _failures: ClassVar[dict[str, str]] = {
        **Classifier._failures,
        "check_classifiers_train": "new points are voted on, and of 200 points one has two votes of little probability against a certain one",
    }


class GeodesicClassifier(ClassifierMixin, Classifier, Updates, parameters.GeodesicParameters):
    """Vote of the labeled points that are nearest along paths of the graph; Belkin & Niyogi 2004."""


class CorrectAndSmoothClassifier(ClassifierMixin, Classifier, Updates, parameters.CorrectAndSmoothParameters):
    """A model of the columns whose errors are corrected and whose answers are smoothed along the graph; Huang et al. 2021.

    Most is gained where the graph is not made of X: ``fit(X, y, graph=links)``. gamma_a and
    smooth_alpha that are not given are chosen by cross-validation on the labels.
    """


class KNeighborsClassifier(ClassifierMixin, Weighted, parameters.KnnParameters):
    """Vote of the nearest labeled points; points without a label play no part.

    See Also
    --------
    sklearn.neighbors.KNeighborsClassifier : The same for points that all have a label.
    """


class RLSClassifier(ClassifierMixin, Weighted, Margins, parameters.RlsParameters):
    """Regularized least squares with a kernel, by the labeled points alone.

    See Also
    --------
    LapRLSClassifier : Also by the graph of all points.
    """


class RLSRegressor(RegressorMixin, Regressor, parameters.RlsParameters):
    """Regularized least squares with a kernel, for values.

    See Also
    --------
    sklearn.kernel_ridge.KernelRidge : The same, with alpha = gamma_a times the number of values.
    """


class SVC(ClassifierMixin, Margins, parameters.SvmParameters):
    """Support vector machine with a kernel, by the labeled points alone.

    See Also
    --------
    sklearn.svm.SVC : The same, with C = 1 / (2 · gamma_a · number of labels), and one class
        against another in place of one against all.
    """


class _Transductive(Margins):
    """A machine that assigns classes to the points without a label."""

    #: The same learner without such points, and its parameters.
    _supervised: ClassVar[tuple[str, type]]

    def _machine(self) -> tuple[str, type]:
        return self._supervised

    def _learner(self, target: Array) -> tuple[str, Collection[str]]:
        if (target < 0).any():
            return self._model, ()
        warn(f"y labels all points, so that {type(self).__name__} is a support vector machine without them")
        model, of = self._machine()
        return model, self.get_params().keys() - of().get_params().keys()


class TSVC(ClassifierMixin, _Transductive, parameters.TsvmParameters):
    """Transductive support vector machine, which assigns classes to the other points; Joachims 1999.

    Where all points have a label it is :class:`SVC`, or :class:`LapSVC` with a positive gamma_i, with a warning.
    """

    _supervised = "svm", parameters.SvmParameters

    def _machine(self) -> tuple[str, type]:
        if self.gamma_i > 0:
            return "lapsvm", parameters.LapsvmParameters
        return self._supervised


class SVR(RegressorMixin, Regressor, parameters.SvrParameters):
    """Support vector regression with a kernel; Drucker et al. 1997.

    See Also
    --------
    sklearn.svm.SVR : The same, with C = 1 / (2 · gamma_a · number of values).
    """


class LinearRLSClassifier(ClassifierMixin, Weighted, Margins, parameters.RlsLinearParameters):
    """Regularized least squares, linear in the columns of X; dense or sparse."""


class LinearRLSRegressor(RegressorMixin, Regressor, parameters.RlsLinearParameters):
    """Regularized least squares for values, linear in the columns of X; dense or sparse."""


class LinearSVC(ClassifierMixin, Margins, parameters.SvmLinearParameters):
    """Support vector machine, linear in the columns of X; Keerthi & DeCoste 2005."""


class LinearTSVC(ClassifierMixin, _Transductive, parameters.TsvmLinearParameters):
    """Transductive support vector machine, linear in the columns of X; Sindhwani & Keerthi 2006.

    Where all points have a label it is :class:`LinearSVC`, with a warning.
    """

    _supervised = "svm-linear", parameters.SvmLinearParameters


class LapRLSClassifier(ClassifierMixin, Weighted, Margins, parameters.LaprlsParameters):
    """Laplacian regularized least squares with a kernel; Belkin, Niyogi & Sindhwani 2006.

    Weights gamma_a and gamma_i that are not given are chosen by cross-validation on the
    labels. Functions are defined everywhere, so that new points need no graph.
    """


class LapRLSRegressor(RegressorMixin, Regressor, parameters.LaprlsParameters):
    """Laplacian regularized least squares with a kernel, for values."""


class LapSVC(ClassifierMixin, Margins, parameters.LapsvmParameters):
    """Laplacian support vector machine with a kernel; Belkin, Niyogi & Sindhwani 2006."""


class LapSVR(RegressorMixin, Regressor, parameters.LapsvrParameters):
    """Laplacian support vector regression with a kernel; Sindhwani, Niyogi & Belkin 2005."""


class LinearLapRLSClassifier(ClassifierMixin, Weighted, Margins, parameters.LaprlsLinearParameters):
    """Laplacian regularized least squares, linear in the columns of X; dense or sparse."""


class LinearLapRLSRegressor(RegressorMixin, Regressor, parameters.LaprlsLinearParameters):
    """Laplacian regularized least squares for values, linear in the columns of X."""


class LinearLapSVC(ClassifierMixin, Margins, parameters.LapsvmLinearParameters):
    """Laplacian support vector machine, linear in the columns of X; dense or sparse."""


class SSSLClassifier(ClassifierMixin, Margins, parameters.SsslParameters):
    """Least squares on eigenfunctions of a kernel over all points; Ji et al. 2012."""


class SSSLRegressor(RegressorMixin, Regressor, parameters.SsslParameters):
    """Least squares for values on eigenfunctions of a kernel over all points; Ji et al. 2012."""


class _Inside(OutlierMixin, Estimator):
    """An estimator of where the labeled points are."""

    _attributes = (
        """    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,)
        1 for training points inside, -1 outside.

    offset_ : float
        Subtracted from ``score_samples`` in ``decision_function``; 0, as the scores begin at
        the edge.
"""
        + _COMMON_ATTRIBUTES
    )

    def fit(self, X: Matrix, y: Matrix = None, graph: Matrix = None) -> Any:
        """Fit to points of which some are known to be inside.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            All points; or names of .npy files, one below the other.
        y : array-like of shape (n_samples,), default=None
            −1 marks points of which nothing is known; all others are inside. None is none such.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            Symmetric weights in place of those of nearest neighbours.

        Returns
        -------
        self : object
        """
        X = self._points(X, reset=True)
        inside = np.ones(X.shape[0], dtype=np.int64)
        if y is not None:
            y = column_or_1d(y, warn=True)
            _same_length(X, y)
            inside[y == -1] = 0
        self.transduction_ = self._fit(X, inside, {"unlabeled": 0}, graph)["label"]
        self.offset_ = 0.0
        return self

    def predict(self, X: Matrix) -> NDArray[np.int64]:
        """Return 1 for points inside, -1 for points outside.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._answer(X)[0]

    def decision_function(self, X: Matrix) -> Array:
        """Return how far inside points are: positive inside, negative outside.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        scores: Array = self._answer(X, "--scores")[1][:, 1]
        return scores

    def score_samples(self, X: Matrix) -> Array:
        """Return the scores of :meth:`decision_function`."""
        return self.decision_function(X)


class OneClassSVM(_Inside, parameters.OneclassParameters):
    """Where the labeled points are, by a support vector machine of one class; Schölkopf et al. 2001.

    See Also
    --------
    sklearn.svm.OneClassSVM : The same without points of which nothing is known.
    """


class LapOneClassSVM(_Inside, parameters.LapOneclassParameters):
    """Where the labeled points are, by a kernel that is warped along all points.

    Sindhwani, Niyogi & Belkin 2005.
    """
