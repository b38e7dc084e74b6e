"""KNeighborsTransformer beside scikit-learn's, and what scanpy and umap-learn ask for."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import neighbors
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline

from bigfit import KNeighborsTransformer, RadiusNeighborsTransformer, precomputed_knn


@pytest.fixture
def points():
    return np.random.default_rng(5).normal(size=(90, 4))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_same_as_sklearn(points, metric, mode):
    queries = points[:30] + 0.01
    ours, theirs = (c(n_neighbors=6, metric=metric, mode=mode) for c in (KNeighborsTransformer, neighbors.KNeighborsTransformer))
    for a, b in ((ours.fit_transform(points), theirs.fit_transform(points)), (ours.transform(queries), theirs.transform(queries))):
        assert a.shape == b.shape and (a.indptr == b.indptr).all() and sparse.isspmatrix_csr(a)
        np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-7)


def test_scanpy(points):
    """scanpy takes an estimator whose fit_transform gives a CSR matrix of distances with the same number
    of entries in each row, ascending; its own n_neighbors is the one of ``get_params``, it takes a
    first column of the points themselves as such, and cuts rows to n_neighbors entries."""
    transformer = KNeighborsTransformer(n_neighbors=15)
    k = transformer.get_params()["n_neighbors"]
    D = transformer.fit_transform(points)
    assert (np.diff(D.indptr) == k + 1).all()
    indices, distances = (a.reshape(-1, k + 1)[:, :k] for a in (D.indices, D.data))
    without = KNeighborsTransformer(n_neighbors=k - 1).fit_transform(points)  # as scanpy's own search of k
    assert (indices.ravel() == without.indices).all()
    assert (indices[:, 0] == np.arange(90)).all() and (distances[:, 0] == 0).all()
    assert (np.diff(distances, axis=1) >= 0).all()
    # Points on the same place: each is still first in its own row.
    twice = KNeighborsTransformer(n_neighbors=3).fit_transform(np.repeat(points[:20], 2, axis=0))
    assert (twice.indices.reshape(-1, 4)[:, 0] == np.arange(40)).all()
    assert twice.nnz == 160  # zeros are stored
    with pytest.raises(ValueError, match="n_samples must be larger"):
        KNeighborsTransformer(n_neighbors=90).fit_transform(points)


def test_umap(points):
    """umap-learn takes indices and distances of n_neighbors columns, each point first in its own row."""
    indices, distances = precomputed_knn(points, 7)
    exact, nearest = neighbors.NearestNeighbors(n_neighbors=7).fit(points).kneighbors(points)
    assert (indices == nearest).all() and (indices[:, 0] == np.arange(90)).all()
    np.testing.assert_allclose(distances, exact, atol=1e-7)


def test_graph_of_other_pipelines(points):
    embed = SpectralEmbedding(n_components=2, affinity="precomputed_nearest_neighbors", n_neighbors=5, random_state=0)
    a = make_pipeline(KNeighborsTransformer(n_neighbors=6), embed).fit_transform(points)
    b = make_pipeline(neighbors.KNeighborsTransformer(n_neighbors=6), embed).fit_transform(points)
    np.testing.assert_allclose(a, b, atol=1e-8)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_radius(points, metric, mode):
    queries = points[:30] + 0.01
    ours, theirs = (c(radius=1.3, metric=metric, mode=mode) for c in (RadiusNeighborsTransformer, neighbors.RadiusNeighborsTransformer))
    for a, b in ((ours.fit_transform(points), theirs.fit_transform(points)), (ours.transform(queries), theirs.transform(queries))):
        assert a.shape == b.shape and a.nnz == b.nnz
        np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-7)
        far = a.data if mode == "distance" else np.zeros(1)
        assert all((np.diff(far[i:j]) >= 0).all() for i, j in zip(a.indptr, a.indptr[1:]))
    twice = RadiusNeighborsTransformer(radius=0.01).fit_transform(np.repeat(points[:20], 2, axis=0))
    assert twice.nnz == 80 and (twice.indices[::2] == np.arange(40)).all()  # zeros are stored, the point itself first


def test_points_in_files(points, tmp_path):
    np.save(tmp_path / "a.npy", points[:50])
    np.save(tmp_path / "b.npy", points[50:])
    names = [tmp_path / "a.npy", str(tmp_path / "b.npy")]
    t = KNeighborsTransformer(n_neighbors=4)
    assert (t.fit_transform(names) != t.fit_transform(points)).nnz == 0
    t.fit(names)
    np.save(tmp_path / "b.npy", points[50:] + 1)
    with pytest.raises(ValueError, match="b.npy was changed since it was given; fit again"):
        t.transform(points)


def test_mapped_points_that_changed(points, tmp_path):
    np.save(tmp_path / "a.npy", points)
    t = KNeighborsTransformer(n_neighbors=4).fit(np.load(tmp_path / "a.npy", mmap_mode="r"))
    np.save(tmp_path / "a.npy", points + 1)
    with pytest.raises(ValueError, match="a.npy was changed since the fit; fit again"):
        t.transform(points)
