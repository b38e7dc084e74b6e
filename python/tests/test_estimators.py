"""Estimators in the hands of scikit-learn and pandas, and against the command line."""

import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bigfit
from bigfit import LabeledKFold, LabelSpreading, LapSVC, LapRLSRegressor, _binary


def test_answers_are_the_commands(engine, blobs, tmp_path):
    X, y, _ = blobs
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)

    def run(*words):
        subprocess.run([engine, *words, "-q"], cwd=tmp_path, check=True, capture_output=True, env=_binary.environment())

    run("fit", "--model", "lapsvm", "--gamma-a", "0.5", "-k", "5", "X.npy", "y.npy", "-o", "m.npz", "--unlabeled=-1")
    run("predict", "m.npz", "X.npy", "-o", "p.npy", "--proba", "q.npy", "--scores", "s.npy")
    m = LapSVC(gamma_a=0.5, n_neighbors=5).fit(X, y)
    assert (m.predict(X) == np.load(tmp_path / "p.npy")).all()
    assert (m.decision_function(X) == np.load(tmp_path / "s.npy")).all()
    np.testing.assert_allclose(m.predict_proba(X), np.load(tmp_path / "q.npy"), rtol=1e-15)


def test_names_of_classes(blobs):
    X, y, truth = blobs
    names = np.array(["ant", "bee", "cow"])
    for unlabeled in ("", "-1", None, np.nan, -1):
        target = names[y].astype(object)
        target[y == -1] = unlabeled
        m = LabelSpreading().fit(X, target)
        assert m.classes_.tolist() == names.tolist()
        assert (m.transduction_ == names[truth]).all() and (m.predict(X[:9]) == names[truth[:9]]).all()
    m = LabelSpreading().fit(X, np.where(y < 0, "", names[y]))
    assert m.predict_proba(X).shape == (120, 3)


def test_bad_targets(blobs):
    X, y, _ = blobs
    for wrong, message in ((np.full(120, -1), "labels no point"), (np.where(y == 1, 1, -1), "only one class, 1"), (y[:9], "inconsistent"), (None, "requires y")):
        with pytest.raises(ValueError, match=message):
            LabelSpreading().fit(X, wrong)
    with pytest.raises(ValueError, match="only; at least one point"):
        LapRLSRegressor().fit(X, np.full(120, np.nan))


def test_few_points():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    with pytest.warns(UserWarning, match="n_neighbors is 8 and there are 4 points; 3 are taken"):
        m = LabelSpreading().fit(X, [0, -1, -1, 1])
    assert m.transduction_[[0, 3]].tolist() == [0, 1]
    assert m.label_distributions_.shape == (4, 2) and m.predict_proba(X).argmax(axis=1).tolist() == [0, 0, 1, 1]


def test_radius(blobs):
    X, y, truth = blobs
    m = LabelSpreading(radius=4.0).fit(X, y)
    assert (m.transduction_ == truth).mean() > 0.98
    few = np.array([[0.0], [1.0], [5.0], [6.0]])
    assert LabelSpreading(radius=2.0).fit(few, [0, -1, -1, 1]).transduction_.tolist() == [0, 0, 1, 1]


def test_not_converged(blobs):
    X, y, _ = blobs
    with pytest.warns(ConvergenceWarning, match="after 1 iterations") as said:
        m = LabelSpreading(max_iterations=1, tolerance=1e-12).fit(X, y)
    assert {w.filename for w in said} == {__file__}
    assert m.transduction_.shape == (120,)


def test_grid_search_and_pipeline(blobs):
    X, y, truth = blobs
    search = GridSearchCV(LabelSpreading(calibrate="none"), {"n_neighbors": [3, 6]}, cv=LabeledKFold(2, random_state=0)).fit(X, y)
    assert search.best_score_ == 1
    assert (search.best_estimator_.transduction_ == truth).all()
    pipe = make_pipeline(StandardScaler(), LapSVC(gamma_a=0.01, gamma_i=0.01)).fit(X, y)
    assert (pipe.predict(X) == truth).mean() > 0.98


def test_labeled_folds(blobs):
    X, y, _ = blobs
    for target, known in ((y, y >= 0), (np.where(y < 0, np.nan, y), y >= 0), (np.where(y < 0, "", y.astype(str)), y >= 0)):
        tests = []
        for train, test in LabeledKFold(4, random_state=1).split(X, target):
            assert known[test].all() and len(np.intersect1d(train, test)) == 0 and len(train) + len(test) == 120
            tests += test.tolist()
        assert sorted(tests) == np.flatnonzero(known).tolist()


def test_pandas(blobs):
    pandas = pytest.importorskip("pandas")
    X, y, truth = blobs
    frame = pandas.DataFrame(X, columns=list("abcd"))
    m = LabelSpreading().fit(frame, pandas.Series(y))
    assert m.feature_names_in_.tolist() == list("abcd")
    assert (m.predict(frame) == truth).all()
    with pytest.raises(ValueError, match="feature names"):
        m.predict(frame[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="3 features"):
        m.predict(X[:, :3])


def test_ready_graphs(blobs):
    X, y, truth = blobs
    points = LabelSpreading().fit(X, y)
    far = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))
    nearest = bigfit.KNeighborsTransformer(n_neighbors=8).fit_transform(X)
    W = bigfit.graph.knn_graph(X)
    for estimator, given in ((LabelSpreading(metric="precomputed"), far), (LabelSpreading(metric="precomputed"), nearest), (LabelSpreading(weights="precomputed"), W)):
        m = estimator.fit(given, y)
        assert m.summary_["components"] == points.summary_["components"]
        assert (m.transduction_ == points.transduction_).all()
        with pytest.raises(ValueError, match="no place for new points"):
            m.predict(given)
    # Rows of a matrix of distances may have different numbers of entries, or none.
    uneven = nearest.tolil()
    uneven[3] = 0
    uneven[4, 30:] = 0
    m = LabelSpreading(metric="precomputed").fit(uneven, y)
    assert (np.delete(m.transduction_, [3, 4]) == np.delete(truth, [3, 4])).all()
    assert (LapSVC().fit(X, y, graph=W).predict(X) == truth).all()
    with pytest.raises(ValueError, match="square matrix between the points; it is 120×4"):
        LabelSpreading(metric="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="graph is 9×9 for 120 points"):
        LabelSpreading().fit(X, y, graph=W[:9, :9])


def test_kernel_of_values(blobs):
    X, y, _ = blobs
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1) / 18)
    W = bigfit.graph.knn_graph(X)
    settings = {"gamma_a": 0.01, "gamma_i": 0.001}
    m = LapSVC(kernel="precomputed", **settings).fit(K, y, graph=W)
    np.testing.assert_allclose(m.decision_function(K), LapSVC(sigma=3.0, **settings).fit(X, y).decision_function(X), atol=1e-3)


def test_several_outputs(blobs):
    X, _, _ = blobs
    Y = X[:, :2] @ np.array([[1.0, 2.0], [0.5, -1.0]])
    given = Y.copy()
    given[40:] = np.nan
    given[:5, 1] = np.nan
    m = bigfit.MultiOutputManifold(gamma_a=1e-6, gamma_i=1e-6).fit(X[:80], given[:80])
    assert m.transduction_.shape == (80, 2) and m.predict(X).shape == (120, 2) and m.n_outputs_ == 2
    assert np.abs(m.predict(X[:40]) - Y[:40]).max() < 0.2


def test_automatic_choice(blobs):
    X, y, truth = blobs
    m = bigfit.AutoClassifier().fit(X, y)
    assert (m.predict(X) == truth).mean() > 0.98
    assert np.isclose(sum(member["weight"] for member in m.summary_["auto"]["members"]), 1)


def test_embedding_and_clusters(blobs):
    X, _, truth = blobs
    W = bigfit.graph.knn_graph(X)
    e = bigfit.SpectralEmbedding(n_components=3).fit(X[::2])
    assert e.transform(X[1::2]).shape == (60, 3) == e.embedding_.shape
    assert e.get_feature_names_out().tolist() == ["spectralembedding0", "spectralembedding1", "spectralembedding2"]
    np.testing.assert_allclose(np.abs(bigfit.SpectralEmbedding(n_components=3, weights="precomputed").fit_transform(W)), np.abs(bigfit.SpectralEmbedding(n_components=3).fit_transform(X)))
    c = bigfit.SpectralClustering(n_clusters=3)
    labels = c.fit_predict(X)
    assert len(set(zip(labels, truth))) == 3
    assert not hasattr(c, "predict")
    functions = bigfit.SpectralClustering(n_clusters=3, gamma=1e-3).fit(X)
    assert (functions.predict(X) == functions.labels_).all()


def test_digits_and_h5ad(tmp_path):
    X, y = bigfit.datasets.make_digits(2000, random_state=1)
    assert X.shape == (2000, 784) and X.dtype == np.uint8 and set(y) == set(range(10))
    anndata = pytest.importorskip("anndata")
    held = anndata.AnnData(sparse.csr_matrix(X[:50].astype("f4")), obsm={"X_pca": X[:50, :5].astype("f4")})
    held.write_h5ad(tmp_path / "cells.h5ad")
    points, names = bigfit.datasets.read_h5ad(tmp_path / "cells.h5ad")
    assert sparse.issparse(points) and (points != sparse.csr_matrix(X[:50].astype("f4"))).nnz == 0 and len(names) == 50
    assert bigfit.datasets.read_h5ad(tmp_path / "cells.h5ad", use_rep="X_pca")[0].shape == (50, 5)
    with pytest.raises(ValueError, match="no representation 'X_umap'"):
        bigfit.datasets.read_h5ad(tmp_path / "cells.h5ad", use_rep="X_umap")
