"""Graphs, eigenpairs and linear systems, against SciPy."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import laplacian

from bigfit import KNeighborsTransformer, SpectralEmbedding
from bigfit.graph import eigs, knn_graph, solve


@pytest.fixture
def points():
    return np.random.default_rng(3).normal(size=(150, 4))


def test_graph(points):
    W = knn_graph(points, 5)
    near = KNeighborsTransformer(n_neighbors=5).fit_transform(points)
    near.setdiag(0)
    near = near != 0
    assert ((near + near.T).astype(float) != W).nnz == 0
    with pytest.raises(TypeError, match="neighbours"):
        knn_graph(points, neighbours=5)


def test_eigs(points):
    W = knn_graph(points, 6, weights="self-tuning")
    L = laplacian(W).toarray()
    values, vectors, certificate = eigs(W, 7, certificate=True)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(L)[:7], atol=1e-8)
    assert np.abs(L @ vectors - vectors * values).max() < 1e-7
    assert certificate["nullity"] == 1 and certificate["next_value"] >= values[-1]
    np.testing.assert_allclose(eigs(W, 3, which="LM", return_eigenvectors=False), np.linalg.eigvalsh(L)[-1:-4:-1], rtol=1e-6)
    normalized = laplacian(W, normed=True).toarray()
    np.testing.assert_allclose(eigs(W, 4, laplacian="normalized", return_eigenvectors=False), np.linalg.eigvalsh(normalized)[:4], atol=1e-8)


def test_components_do_not_matter():
    """28 components: all null vectors are found, of the graph and before an embedding."""
    r = np.random.default_rng(0)
    X = r.normal(size=(28 * 30, 3)) * 0.1 + np.repeat(np.arange(28), 30)[:, None] * 10
    W = knn_graph(X, 5)
    values, vectors = eigs(W, 32)
    assert (np.abs(values[:28]) < 1e-12).all() and values[28] > 1e-3
    assert np.linalg.matrix_rank(vectors) == 32
    e = SpectralEmbedding(n_components=2, n_neighbors=5).fit(X)
    assert e.summary_["components"] == 28 and min(e.eigenvalues_) > 1e-6


def test_solve(points):
    W = knn_graph(points, 6)
    L = laplacian(W)
    B = np.random.default_rng(1).normal(size=(150, 3))
    X = solve(W, B, shift=0.25)
    np.testing.assert_allclose(L @ X + 0.25 * X, B, atol=1e-6)
    M = laplacian(W, normed=True) + 0.5 * sparse.eye(150)
    np.testing.assert_allclose(M @ (M @ solve(W, B, shift=0.5, laplacian="normalized", power=2)), B, atol=1e-6)
    b = B[:, 0]
    with pytest.raises(ValueError, match="B: column 0 has .* of its norm along the null vector of component 0.*give shift, or project"):
        solve(W, b)
    x = solve(W, b, project=True)
    np.testing.assert_allclose(L @ x, b - b.mean(), atol=1e-6)
    assert x.shape == (150,) and abs(x.sum()) < 1e-6
