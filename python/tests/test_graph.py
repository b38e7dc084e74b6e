"""Graphs, eigenpairs and linear systems, against SciPy."""

import gc
import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import laplacian

from bigfit import DiffusionMap, EngineError, KNeighborsTransformer, SpectralEmbedding
from bigfit.graph import eigs, factorize, hop_features, knn_graph, solve


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


@pytest.mark.parametrize("normalization, loops", [("symmetric", False), ("symmetric", True), ("row", False)])
def test_hop_features(points, normalization, loops):
    """Against SciPy; sparse points stay sparse."""
    W = sparse.csr_matrix(knn_graph(points, 5, weights="self-tuning"))
    full = W + sparse.eye(150) if loops else W
    d = np.asarray(full.sum(axis=1)).ravel()
    A = sparse.diags(1 / d) @ full if normalization == "row" else sparse.diags(d**-0.5) @ full @ sparse.diags(d**-0.5)
    want = np.hstack([points, A @ points, A @ (A @ points), A @ (A @ (A @ points))])
    features = hop_features(points, W, 3, normalization=normalization, self_loops=loops)
    assert features.dtype == np.float32
    np.testing.assert_allclose(features, want, rtol=1e-5, atol=1e-6)
    thin = hop_features(sparse.csr_matrix(points), W, 3, normalization=normalization, self_loops=loops)
    assert sparse.issparse(thin)
    np.testing.assert_allclose(thin.toarray(), want, rtol=1e-12, atol=1e-14)
    assert hop_features(points, n_neighbors=7).shape == (150, 12)
    with pytest.raises(TypeError, match="loops"):
        hop_features(points, loops=True)


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


def test_eigs_float32(points):
    W = knn_graph(points, 6, weights="self-tuning")
    L = laplacian(W).toarray()
    values, vectors = eigs(W, 7, dtype=np.float32)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(values, np.linalg.eigvalsh(L)[:7], atol=1e-10 * np.linalg.norm(L, 2))
    assert np.abs(L @ vectors - vectors * values).max() < 1e-6 * np.linalg.norm(L, 2)
    with pytest.raises(ValueError, match="float64 or float32"):
        eigs(W, 7, dtype=np.int32)


def test_eigs_below(points):
    """All pairs below a value, of a graph and of two side by side, against NumPy."""
    W = knn_graph(points, 6, weights="self-tuning")
    for graph in W, sparse.block_diag([W, W]).tocsr():
        want = np.linalg.eigvalsh(laplacian(graph).toarray())
        bound = (want[13] + want[14]) / 2
        values, vectors, certificate = eigs(graph, below=bound, certificate=True)
        np.testing.assert_allclose(values, want[want < bound], atol=1e-8)
        assert vectors.shape == (graph.shape[0], len(values))
        assert certificate["exact"] or certificate["counted"]
    with pytest.raises(ValueError, match="leave out k"):
        eigs(W, 3, below=0.1)
    with pytest.raises(ValueError, match="positive and finite"):
        eigs(W, below=-1)


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


def test_factor(points):
    W = knn_graph(points, 6)
    L = laplacian(W)
    B = np.random.default_rng(1).normal(size=(150, 3))
    with factorize(W, 0.25) as factor:
        for b in (B, B[:, 0], B):  # one factor, several right-hand sides
            np.testing.assert_allclose(L @ factor.solve(b) + 0.25 * factor.solve(b), b, atol=1e-6)
        child = factor._served._process.pid
        with pickle.loads(pickle.dumps(factor)) as again:
            assert again._served._process.pid != child and (again.solve(B) == factor.solve(B)).all()
        assert factor._served._process.pid == child
        with pytest.raises(ValueError, match="B has 9 rows and the graph 150 points"):
            factor.solve(B[:9])
    with pytest.raises(ValueError, match="closed"):
        factor.solve(B)
    M = laplacian(W, normed=True) + 0.5 * sparse.eye(150)
    with factorize(W, 0.5, laplacian="normalized") as factor:
        np.testing.assert_allclose(M @ factor.solve(B), B, atol=1e-6)


def test_factor_in_a_file(points, tmp_path):
    W = knn_graph(points, 6)
    B = np.random.default_rng(1).normal(size=(150, 3))
    path = tmp_path / "factor.npz"
    with factorize(W, 0.25, save_factor=path) as factor:
        X = factor.solve(B)
        path.rename(tmp_path / "kept.npz")
        with pickle.loads(pickle.dumps(factor)) as again:  # a copy does not write
            assert (again.solve(B) == X).all() and not path.exists()
    with factorize(W, 0.25, factor=tmp_path / "kept.npz") as factor:
        assert (factor.solve(B) == X).all()
    with pytest.raises(ValueError, match="kept.npz.*shifted by 0.25.*make the factor again"):
        factorize(W, 0.5, factor=tmp_path / "kept.npz")
    with pytest.raises(ValueError, match="kept.npz.*another graph"):
        factorize(2 * W, 0.25, factor=tmp_path / "kept.npz")


def test_factor_without_shift(points):
    W = knn_graph(points, 6)
    b = np.random.default_rng(1).normal(size=150)
    with factorize(W) as factor:
        with pytest.raises(ValueError, match="^B: column 0 has .* along the null vector.*give shift, or project"):
            factor.solve(b)
        x = factor.solve(b - b.mean())  # a fault leaves the factor as it is
    np.testing.assert_allclose(laplacian(W) @ x, b - b.mean(), atol=1e-6)
    with factorize(W, project=True) as factor:
        np.testing.assert_allclose(factor.solve(b), x, atol=1e-6)


def test_factor_goes_with_its_object(points):
    factor = factorize(knn_graph(points, 6), 0.1)
    process = factor._served._process
    del factor
    gc.collect()
    assert process.poll() is not None
    with pytest.raises(ValueError, match="shift is -1"):
        factorize(knn_graph(points, 6), -1)


def test_factor_whose_process_was_killed(points):
    with factorize(knn_graph(points, 6), 0.1) as factor:
        factor._served._process.kill()
        with pytest.raises(EngineError, match="signal 9"):
            factor.solve(points)


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
def test_diffusion_map(points, alpha):
    """Against the definition, by dense eigenvectors: distances of all coordinates are diffusion distances."""
    points = points[:60]
    W = knn_graph(points, 8, weights="heat", t=1.0)
    K = W.toarray()
    q = K.sum(axis=1)
    K /= np.outer(q, q) ** alpha
    d = K.sum(axis=1)
    P = K / d[:, None]
    pi = d / d.sum()
    time = 3
    power = np.linalg.matrix_power(P, time)
    m = DiffusionMap(n_components=59, alpha=alpha, time=time, weights="precomputed", tolerance=1e-12).fit(W)
    np.testing.assert_allclose(pi @ m.embedding_**2, (1 - np.array(m.eigenvalues_)) ** (2 * time), rtol=1e-6, atol=1e-12)
    for i, j in ((0, 1), (5, 40), (20, 59)):
        diffusion = (((power[i] - power[j]) ** 2) / pi).sum()
        np.testing.assert_allclose(((m.embedding_[i] - m.embedding_[j]) ** 2).sum(), diffusion, rtol=1e-6)
    near = DiffusionMap(n_components=3, alpha=alpha, n_neighbors=8, weights="heat", t=1.0).fit(points)
    np.testing.assert_allclose(near.transform(points), near.embedding_, atol=1e-12)
    moved = near.transform(points + 1e-9)
    assert np.abs(moved - near.embedding_).max() < 0.7 * np.abs(near.embedding_).max()


def test_density_goes():
    """Points on a circle, of which half of the circle holds nine tenths: with alpha 1 the angles come out even."""
    r = np.random.default_rng(0)
    angle = np.sort(np.concatenate([r.uniform(0, np.pi, 900), r.uniform(np.pi, 2 * np.pi, 100)]))
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def uneven(alpha):
        z = DiffusionMap(alpha=alpha, radius=0.5, weights="heat", t=0.01).fit_transform(X)
        found = np.unwrap(np.arctan2(z[:, 1], z[:, 0]))
        turn = found[-1] - found[0]
        fit = np.abs((found - found[0]) / turn - (angle - angle[0]) / (angle[-1] - angle[0]))
        return fit.max()

    assert uneven(1) < 0.05 < uneven(0)


def test_diffusion_parameters(points):
    with pytest.raises(ValueError, match="alpha is 2; it must be from 0 to 1"):
        DiffusionMap(alpha=2).fit(points)
    plain = SpectralEmbedding(alpha=1).fit(points)
    scaled = DiffusionMap(alpha=1, time=0).fit(points)
    ratio = plain.embedding_ / scaled.embedding_
    np.testing.assert_allclose(ratio, np.broadcast_to(np.median(ratio, axis=0), ratio.shape), rtol=1e-6)
