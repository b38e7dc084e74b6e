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
    for unlabeled in ("", "-1", "?", "NaN", "null", None, np.nan, -1, np.int64(-1)):
        target = names[y].astype(object)
        target[y == -1] = unlabeled
        m = LabelSpreading().fit(X, target)
        assert m.classes_.tolist() == names.tolist()
        assert (m.transduction_ == names[truth]).all() and (m.predict(X[:9]) == names[truth[:9]]).all()
    m = LabelSpreading().fit(X, np.where(y < 0, "", names[y]))
    assert m.predict_proba(X).shape == (120, 3)


def test_a_class_that_may_be_no_label(blobs):
    X, y, _ = blobs
    target = np.array(["none", "bee", "cow"])[y].astype(object)
    target[y == -1] = None
    with pytest.warns(UserWarning, match="'none' in y is taken as a class"):
        m = LabelSpreading().fit(X, target)
    assert m.classes_.tolist() == ["bee", "cow", "none"]


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


def test_correct_and_smooth(links):
    """Against Huang et al. 2021 in NumPy over the scores of the base; columns and links together err least."""
    X, W, y, truth = links
    settings = {"base": "rls-linear", "gamma_a": 1.0, "smooth_alpha": 0.8, "correct_alpha": 0.9, "tolerance": 1e-12}
    m = bigfit.CorrectAndSmoothClassifier(**settings).fit(X, y, graph=W)

    f = bigfit.LinearRLSClassifier(gamma_a=1.0).fit(X, y).decision_function(X)
    Z = np.clip((1 + f) / 2, 0, 1)
    Z /= Z.sum(axis=1, keepdims=True)
    given = np.flatnonzero(y != "")
    Y = (y[given, None] == m.classes_).astype(float)
    d = np.asarray(W.sum(axis=1)).ravel()
    r = np.where(d > 0, 1 / np.sqrt(np.maximum(d, 1e-300)), 0)
    S = r[:, None] * W.toarray() * r
    E = np.zeros_like(Z)
    E[given] = Y - Z[given]
    sigma = np.abs(E[given]).sum() / len(given)
    E = np.linalg.solve(np.eye(len(X)) - 0.9 * S, 0.1 * E)
    scale = sigma / np.maximum(np.abs(E).sum(axis=1, keepdims=True), 1e-300)
    G = Z + np.where(scale > 1000, 1, scale) * E
    G[given] = Y
    H = np.linalg.solve(np.eye(len(X)) - 0.8 * S, 0.2 * G)
    want = m.classes_[H.argmax(axis=1)]
    want[given] = y[given]
    assert (m.transduction_ == want).all()

    # The road on defaults: links of SciPy, labels by name, probabilities and answers for new points.
    both = bigfit.CorrectAndSmoothClassifier().fit(X, y, graph=W)
    errors = {"both": both, "links": LabelSpreading().fit(X, y, graph=W), "auto": bigfit.AutoClassifier().fit(X, y, graph=W)}
    errors = {name: np.mean(e.transduction_ != truth) for name, e in errors.items()}
    errors["columns"] = np.mean(bigfit.RLSClassifier(gamma_a=0.1).fit(X, y).predict(X) != truth)
    assert errors["both"] < min(errors["links"], errors["columns"]) and errors["auto"] <= min(errors["links"], errors["columns"]), errors
    # A new point has no links: its neighbours among the columns join it.
    assert np.mean(both.predict(X[:60] + 0.01) != truth[:60]) <= errors["columns"] + 0.05
    np.testing.assert_allclose(both.predict_proba(X[:9]).sum(axis=1), 1)


@pytest.fixture
def links():
    """Points, links, few labels and all: columns and links both say something of the class."""
    r = np.random.default_rng(0)
    n = 240
    c = np.arange(n) % 3
    X = r.normal(size=(n, 6))
    X[np.arange(n), c] += 1.2
    W = sparse.lil_matrix((n, n))
    for i in range(n):
        for _ in range(4):
            j = 3 * r.integers(n // 3) + c[i] if r.random() < 0.75 else r.integers(n)
            if i != j:
                W[i, j] = W[j, i] = 1
    truth = np.array(["red", "green", "blue"])[c]
    y = np.where(np.arange(n) < 15, truth, "")
    return X, sparse.csr_matrix(W), y, truth


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
    # L (x) I is the default; another matrix gives another function.
    settings = {"gamma_a": 1e-4, "gamma_i": 0.1, "sigma": 2.0}
    default = bigfit.MultiOutputManifold(**settings).fit(X, given).predict(X)
    norm = [np.zeros((2, 2)), np.eye(2)]
    same = bigfit.MultiOutputManifold(**settings).fit(X, given, output_norm=norm)
    np.testing.assert_allclose(same.predict(X), default, atol=1e-6)
    other = bigfit.MultiOutputManifold(**settings).fit(X, given, output_norm=norm + [np.ones((2, 2))])
    assert np.abs(other.predict(X) - default).max() > 1e-3
    kernel = bigfit.MultiOutputManifold(**settings).fit(X, given, output_kernel=np.eye(2))
    np.testing.assert_allclose(kernel.predict(X), default, atol=1e-6)


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
    chosen = bigfit.SpectralClustering(n_clusters="auto").fit(X)
    assert (chosen.labels_ == labels).all() and chosen.summary_["choice"]["clusters"] == 3
    with pytest.raises(ValueError, match="n_clusters"):
        bigfit.SpectralClustering(n_clusters="many").fit(X)
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
