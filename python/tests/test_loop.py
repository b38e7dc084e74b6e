"""The loop of labeling: probabilities, points to label, suspects, updates and reports of every estimator."""

import pickle

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin

import bigfit
from bigfit._base import Updates

ALL = [c for c in vars(bigfit).values() if isinstance(c, type) and hasattr(c, "_model")]
QUICK = {"gamma_a": 1e-5, "gamma_i": 1e-3}


def quick(cls):
    """Return an estimator whose settings need no choice."""
    estimator = cls()
    estimator.set_params(**{name: value for name, value in QUICK.items() if name in estimator.get_params()})
    return estimator


def of(kind, updates=None):
    """Return the estimators of a kind."""
    return [c for c in ALL if issubclass(c, kind) and (updates is None or issubclass(c, Updates) == updates)]


@pytest.fixture
def values():
    """Points on a line that is bent in four dimensions, of which every third has its value."""
    t = np.linspace(0, 3, 90)
    X = np.stack([np.cos(t), np.sin(t), t, t * t], axis=1)
    return X, np.where(np.arange(90) % 3 == 0, t, np.nan), t


@pytest.mark.parametrize("cls", of(ClassifierMixin))
def test_classifiers(cls, blobs):
    X, y, truth = blobs
    names = np.array(["ant", "bee", "cow"])
    m = quick(cls).fit(X, np.where(y < 0, "", names[y]))
    assert m.classes_.tolist() == names.tolist()
    assert (m.transduction_ == names[truth]).mean() > 0.95 and (m.predict(X) == names[truth]).mean() > 0.95
    for p, answers in ((m.label_distributions_, m.transduction_), (m.predict_proba(X), m.predict(X))):
        assert p.shape == (120, 3)
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
        assert (m.classes_[p.argmax(axis=1)] == answers).all()


@pytest.mark.parametrize("cls", of(RegressorMixin))
def test_regressors(cls, values):
    X, y, t = values
    m = quick(cls).fit(X, y)
    assert np.abs(m.transduction_ - t).max() < 0.8 and np.corrcoef(m.predict(X), t)[0, 1] > 0.9


@pytest.mark.parametrize("cls", of(OutlierMixin))
def test_inside(cls, blobs):
    X, _, truth = blobs
    known = np.where((truth == 0) & (np.arange(120) % 2 == 0), 1, -1)
    m = quick(cls).set_params(nu=0.1).fit(X, known)
    assert (m.predict(X[truth == 0]) == 1).mean() > 0.6 and (m.predict(X[truth > 0]) == -1).all()
    assert ((m.decision_function(X) > 0) == (m.predict(X) == 1)).all()


@pytest.mark.parametrize("cls", of(ClassifierMixin))
def test_next_suspects_report(cls, blobs, tmp_path):
    X, y, _ = blobs
    y = y.copy()
    y[0] = 1  # is of class 0
    m = quick(cls).fit(X, y)
    again = {} if isinstance(m, Updates) else {"X": X, "y": y}
    rows = m.next(5, **again)
    assert len(set(rows)) == 5 and (y[rows] == -1).all()
    found = m.suspects(**again)
    at = found["row"].tolist().index(0)
    assert at < 3 and found["label"][at] == 1 and found["suggested"][at] == 0
    assert (np.diff(found["score"]) <= 0).all() and len(m.suspects(1, **again)["row"]) == 1
    m.report(tmp_path / "r.html", **again)
    assert (tmp_path / "r.html").stat().st_size > 10000


def test_first_points(blobs):
    X, _, truth = blobs
    for rule in ("combined", "sopt", "typical", "cover"):
        rows = bigfit.first_points(X, 6, rule=rule)
        assert len(set(rows)) == 6 and set(truth[rows]) == {0, 1, 2}
    W = bigfit.graph.knn_graph(X, 5)
    assert bigfit.first_points(graph=W, n=3).tolist() == bigfit.first_points(X, 3, graph=W).tolist()
    assert len(bigfit.first_points(X, 3, n_neighbors=4, random_state=1)) == 3
    y = np.full(len(X), -1)
    y[bigfit.first_points(X, 6)] = truth[bigfit.first_points(X, 6)]
    m = quick(bigfit.AutoClassifier).fit(X, y)
    assert (m.transduction_ == truth).mean() > 0.9 and (y[m.next(4)] == -1).all()
    with pytest.raises(ValueError, match="answers of a model"):
        bigfit.first_points(X, 3, rule="uncertainty")
    with pytest.raises(ValueError, match="points X or a graph"):
        bigfit.first_points()


@pytest.mark.parametrize("cls", of(RegressorMixin, updates=True))
def test_values(cls, values, tmp_path):
    X, y, t = values
    m = quick(cls).fit(X[:80], y[:80])
    for rule in ("combined", "vopt"):
        rows = m.next(4, rule=rule)
        assert np.isnan(y[rows]).all()
    m.update(X[80:], y[80:])
    assert m.transduction_.shape == (90,) and np.abs(m.transduction_ - t).max() < 0.8
    m.report(tmp_path / "r.html")


@pytest.mark.parametrize("cls", of(ClassifierMixin, updates=True))
def test_update(cls, blobs):
    X, y, truth = blobs
    old = np.random.default_rng(0).permutation(120)
    X, y, truth = X[old], y[old], truth[old]
    m = quick(cls).fit(X[:100], y[:100])
    m.update(X[100:110])
    m.update(X[110:], y[110:])
    assert m.transduction_.shape == (120,) and m.label_distributions_.shape == (120, 3)
    assert (m.transduction_ == truth).all()
    labels = y.copy()
    labels[m.next(3)] = truth[m.next(3)]
    m.update(y=labels)
    assert m.summary_["labeled"] == (labels >= 0).sum()
    same = pickle.loads(pickle.dumps(m))
    assert (same.predict(X) == m.predict(X)).all() and same.next(2).tolist() == m.next(2).tolist()


def test_new_classes(blobs):
    X, y, truth = blobs
    names = np.array(["m", "n", "a"])
    first = np.where((y < 0) | (y == 2), "", names[y])
    m = bigfit.LabelSpreading().fit(X, first)
    assert m.classes_.tolist() == ["m", "n"]
    m.update(y=np.where(y < 0, "", names[y]))
    assert m.classes_.tolist() == ["m", "n", "a"] and (m.transduction_ == names[truth]).all()
    assert (m.classes_[m.predict_proba(X).argmax(axis=1)] == m.predict(X)).all()
    assert set(m.suspects(y=np.where(y < 0, "", names[y]))) == {"row", "label", "suggested", "score"}
    m.update(y=first)  # the class has no label any more
    assert m.classes_.tolist() == ["m", "n"] and m.label_distributions_.shape == (120, 2)


def test_partial_fit(blobs):
    X, y, truth = blobs
    order = np.random.default_rng(1).permutation(120)
    m = bigfit.LabelSpreading()
    for part in np.array_split(order, 3):
        m.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert m.transduction_.shape == (120,) and (m.transduction_ == truth[order]).mean() > 0.95


def test_bad_updates(blobs):
    X, y, _ = blobs
    m = bigfit.LabelSpreading().fit(X, y)
    with pytest.raises(ValueError, match="update needs new points X, labels y, or both"):
        m.update()
    with pytest.raises(ValueError, match="y has 3 entries; it must have one for each of the 5 new points, or of all 125"):
        m.update(X[:5], y[:3])
    with pytest.raises(ValueError, match="3 features"):
        m.update(X[:5, :3])
    assert not hasattr(bigfit.LapSVC(), "update")
    with pytest.raises(ValueError, match="give them with X, their labels with y"):
        quick(bigfit.LapSVC).fit(X, y).next(3)
    W = bigfit.graph.knn_graph(X)
    ready = bigfit.LabelSpreading(weights="precomputed").fit(W, y)
    with pytest.raises(ValueError, match="no place for new points"):
        ready.update(W)


def test_without_probabilities(blobs):
    X, y, _ = blobs
    m = bigfit.LabelSpreading(calibrate="none").fit(X, y)
    assert not hasattr(m, "label_distributions_") and not hasattr(m, "predict_proba")
    assert (m.update(X[:3]).transduction_[120:] == 0).all()


def test_probabilities_of_another_model(blobs):
    X, y, truth = blobs
    y = y.copy()
    y[40] = 2
    p = np.full((120, 3), 0.01)
    p[np.arange(120), truth] = 0.98
    p[7] = [0.34, 0.33, 0.33]
    m = bigfit.LabelSpreading().fit(X, y)
    found = m.suspects(proba=p)
    assert found["row"][0] == 40 and found["suggested"][0] == 1 and m.suspects_summary_["suspects"] >= 1
    assert m.next(1, rule="uncertainty", proba=p).tolist() == [7]


def test_suspicious_values(values):
    X, y, _ = values
    y = y.copy()
    y[30] += 2
    found = bigfit.HarmonicRegressor().fit(X, y).suspects()
    assert found["row"][0] == 30 and found["value"][0] == y[30] and abs(found["predicted"][0] - (y[30] - 2)) < 0.5


def test_compare(blobs, tmp_path):
    X, _, truth = blobs
    names = np.array(["ant", "bee", "cow"])[truth]
    models = ["knn", bigfit.LabelSpreading(alpha=0.9), bigfit.Poisson]
    files = [tmp_path / "t.tex", tmp_path / "t.svg", tmp_path / "t.html"]
    r = bigfit.compare(models, X, names, labels_per_class=[1, 3], splits=2, n_neighbors=6, outputs=files, settings={"knn.vote": [1, 3]})
    assert [(t["model"], t["per_class"]) for t in r["table"]] == [(m, k) for k in (1, 3) for m in ("knn", "lgc", "poisson")]
    assert all(t["mean"] < 20 for t in r["table"]) and r["unit"] == "%" and all(f.exists() for f in files)
    assert {f["setting"].get("alpha") for f in r["fits"] if f["model"] == "lgc"} == {0.9}
    again = bigfit.compare(["lgc"], X, names, splits=np.array([[0, 1, 40, 80], [2, 3, 41, 81]]), graph=bigfit.graph.knn_graph(X))
    assert again["done"] == 2
    with pytest.raises(ValueError, match="named twice"):
        bigfit.compare(["lgc", bigfit.LabelSpreading], X, names, labels=9)
    with pytest.raises(TypeError, match="^compare has no parameter 'neighbours'"):
        bigfit.compare(["lgc"], X, names, labels=9, neighbours=3)


def test_compare_values(values):
    X, _, t = values
    r = bigfit.compare(["harmonic", bigfit.RLSRegressor(gamma_a=1e-3)], X, t, labels=20, splits=2, regression=True)
    assert r["metric"] == "rmse" and all(row["mean"] < 0.5 for row in r["table"])


def test_audit(tmp_path):
    r = np.random.default_rng(1)
    centers = 3 * r.normal(size=(4, 12))
    truth = r.integers(0, 4, 600)
    X = centers[truth] + r.normal(size=(600, 12))
    X[10] = X[400]
    X[20] = 40 + np.arange(12)
    names = np.array(["ash", "birch", "cedar", "elm"])
    y = names[truth].astype(object)
    y[50:60] = names[(truth[50:60] + 1) % 4]
    page = tmp_path / "audit.html"
    found = bigfit.audit(X, y, report=page)
    assert page.stat().st_size > 10000
    assert found["summary"]["duplicates"]["groups"] == 1
    assert found["duplicate"][10] == found["duplicate"][400] >= 0
    assert "outlier" in found["issues"][20].split()
    wrong = np.arange(50, 60)
    assert np.mean(found["suspect"][wrong] > 0.5) > 0.8
    assert (found["suggested"][wrong] == names[truth[wrong]]).mean() > 0.8
    assert found["label"][50] == y[50] and found["suggested"][0] is None

    values = bigfit.audit(X, centers[truth, 0] + 0.1 * r.normal(size=600), regression=True, n_neighbors=5)
    assert values["summary"]["neighbors"] == 5 and "value" in values
    X[3, 4] = np.nan
    assert bigfit.audit(X)["summary"]["rows_not_finite"] == [3]
    with pytest.raises(ValueError, match="votes"):
        bigfit.audit(X, y, votes=0)
    with pytest.raises(TypeError, match="audit"):
        bigfit.audit(X, neighbours=5)
