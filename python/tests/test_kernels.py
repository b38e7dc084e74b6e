"""The warped kernel against NumPy, and in scikit-learn's machines."""

import numpy as np
import pytest
from scipy.sparse.csgraph import laplacian
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC

import bigfit
from bigfit import LapSVC, WarpedKernel
from bigfit.graph import knn_graph


@pytest.fixture
def moons():
    X, y = make_moons(240, noise=0.06, random_state=0)
    fresh, truth = make_moons(60, noise=0.06, random_state=1)
    return X, y, fresh, truth


def warp(X, z, new, sigma, M):
    """k̃ between new and z, by its formula."""
    k = RBF(sigma)
    K = k(X)
    B = np.linalg.solve(np.eye(len(X)) + M @ K, M)
    return k(new, z) - k(new, X) @ B @ k(X, z)


def test_formula(moons):
    X, _, fresh, _ = moons
    L = laplacian(knn_graph(X, 6), normed=True).toarray()
    w = WarpedKernel(gamma_i=30, gamma_a=2, power=2, laplacian="normalized", n_neighbors=6, sigma=0.3).fit(X)
    M = 15 * L @ L
    np.testing.assert_allclose(w.kernel_, warp(X, X, X, 0.3, M), atol=1e-9)
    np.testing.assert_allclose(w.transform(fresh), warp(X, X, fresh, 0.3, M), atol=1e-9)
    np.testing.assert_allclose(w.diagonal(fresh), np.diag(warp(X, fresh, fresh, 0.3, M)), atol=1e-9)
    np.testing.assert_array_equal(w.kernel_, w.kernel_.T)
    assert np.linalg.eigvalsh(w.kernel_)[0] > -1e-10
    np.testing.assert_array_equal(clone(w).fit_transform(X), w.kernel_)
    given = clone(w).fit(X, graph=knn_graph(X, 6))
    np.testing.assert_array_equal(given.kernel_, w.kernel_)
    np.testing.assert_allclose(given.transform(fresh), w.transform(fresh), atol=1e-12)
    # Values of a kernel in place of points.
    k = RBF(0.3)
    ready = clone(w).set_params(kernel="precomputed", sigma=None).fit(k(X), graph=knn_graph(X, 6))
    np.testing.assert_allclose(ready.kernel_, w.kernel_, atol=1e-9)
    np.testing.assert_allclose(ready.transform(k(fresh, X)), w.transform(fresh), atol=1e-9)


def test_support_vector_machine(moons):
    """SVC on the kernel is LapSVC with C = 1/(2 γ_A l)."""
    X, y, fresh, truth = moons
    labeled = np.r_[np.flatnonzero(y == 0)[:3], np.flatnonzero(y == 1)[:3]]
    given = np.full(len(y), -1)
    given[labeled] = y[labeled]
    settings = dict(gamma_a=1e-3, gamma_i=0.3, laplacian="normalized", n_neighbors=6, sigma=0.3)
    w = WarpedKernel(**settings).fit(X)
    machine = SVC(kernel="precomputed", C=1 / (2 * 1e-3 * 6), tol=1e-8).fit(w.kernel_[np.ix_(labeled, labeled)], y[labeled])
    ours = LapSVC(**settings, tolerance=1e-9, calibrate="none").fit(X, given)
    np.testing.assert_allclose(machine.decision_function(w.transform(fresh)[:, labeled]), ours.decision_function(fresh), atol=1e-4)
    plain = SVC(gamma=1 / (2 * 0.3**2), C=1 / (2 * 1e-3 * 6)).fit(X[labeled], y[labeled])
    assert machine.score(w.transform(fresh)[:, labeled], truth) >= plain.score(fresh, truth) + 0.05


def test_refusals(moons):
    X = moons[0]
    with pytest.raises(ValueError, match="gamma_i"):
        WarpedKernel(gamma_i=-1).fit(X)
    with pytest.raises(ValueError, match="needs points"):
        WarpedKernel(metric="precomputed").fit(np.ones((3, 3)))
    with pytest.raises(ValueError, match="of which no graph is made"):
        WarpedKernel(kernel="precomputed").fit(np.eye(9))
    with pytest.raises(MemoryError):
        WarpedKernel(memory_limit="60MB").fit(np.random.default_rng(0).normal(size=(1500, 3)))


def test_transductive_without_other_points():
    """With all labels the transductive machine is the one without it, warped where gamma_i is positive."""
    X = np.random.default_rng(0).normal(size=(120, 3))
    y = (X[:, 0] > 0).astype(int)
    for gamma_i, other in ((0.0, bigfit.SVC(gamma_a=1e-3)), (1e-3, bigfit.LapSVC(gamma_a=1e-3, gamma_i=1e-3))):
        with pytest.warns(UserWarning, match="y labels all points"):
            model = bigfit.TSVC(gamma_a=1e-3, gamma_i=gamma_i).fit(X, y)
        assert np.array_equal(model.decision_function(X), other.fit(X, y).decision_function(X))
