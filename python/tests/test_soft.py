"""Labels that are probabilities, and labels with weights."""

import numpy as np
import pytest

import bigfit

WEIGHTED = [bigfit.AutoClassifier, bigfit.KNeighborsClassifier, bigfit.LabelSpreading, bigfit.Poisson, bigfit.PoissonMBO,
            bigfit.ReweightedClassifier, bigfit.TikhonovClassifier, bigfit.RLSClassifier, bigfit.LapRLSClassifier,
            bigfit.LinearRLSClassifier, bigfit.LinearLapRLSClassifier]
SOFT = [*WEIGHTED, bigfit.CutClassifier, bigfit.LabelPropagation, bigfit.SSSLClassifier]
QUICK = {"gamma_a": 1e-5, "gamma_i": 1e-3}


def quick(cls):
    """Return an estimator whose settings need no choice."""
    estimator = cls()
    return estimator.set_params(**{name: value for name, value in QUICK.items() if name in estimator.get_params()})


@pytest.fixture
def soft(blobs):
    """Points, and probabilities of their classes, 0.8 for the right one, NaN for points without a label."""
    X, y, truth = blobs
    p = np.full((len(y), 3), np.nan)
    p[y >= 0] = 0.1
    p[y >= 0, y[y >= 0]] = 0.8
    return X, p, truth


@pytest.mark.parametrize("cls", SOFT)
def test_probabilities(cls, soft):
    X, p, truth = soft
    names = np.array(["cow", "ant", "bee"])  # in the order of the columns
    m = quick(cls).fit(X, p, classes=names)
    assert m.classes_.tolist() == names.tolist()
    assert (m.predict(X) == names[truth]).mean() > 0.95 and (m.transduction_ == names[truth]).mean() > 0.95
    np.testing.assert_allclose(m.predict_proba(X).sum(axis=1), 1, atol=1e-6)


def test_one_class_a_point_is_a_label(blobs):
    X, y, _ = blobs
    p = np.zeros((len(y), 3))
    p[y >= 0, y[y >= 0]] = 1
    hard, soft = bigfit.LabelSpreading().fit(X, y), bigfit.LabelSpreading().fit(X, p)
    np.testing.assert_array_equal(hard.label_distributions_, soft.label_distributions_)


def test_loop(soft):
    X, p, truth = soft
    m = bigfit.AutoClassifier().fit(X, p)
    assert len(m.next(5)) == 5
    assert set(m.suspects()) == {"row", "label", "suggested", "score"}
    known = int((~np.isnan(p[:, 0])).sum())
    more = p.copy()
    row = np.flatnonzero(np.isnan(p[:, 0]))[0]
    more[row] = 0.1
    more[row, truth[row]] = 0.8
    m.update(y=more)
    assert m.summary_["labeled"] == known + 1


@pytest.mark.parametrize("cls", WEIGHTED)
def test_sample_weight(cls, blobs):
    X, y, _ = blobs
    ones = quick(cls).fit(X, y, sample_weight=np.ones(len(y)))
    plain = quick(cls).fit(X, y)
    np.testing.assert_array_equal(ones.predict_proba(X), plain.predict_proba(X))
    weights = np.where(np.arange(len(y)) % 2, 2.5, 0)
    some = quick(cls).fit(X, y, sample_weight=weights)
    assert some.summary_["labeled"] == ((y >= 0) & (weights > 0)).sum()


def test_faults(soft, blobs):
    X, p, _ = soft
    _, y, _ = blobs
    with pytest.raises(ValueError, match="svm takes no probabilities of classes; auto"):
        quick(bigfit.SVC).fit(X, p)
    with pytest.raises(TypeError, match="sample_weight"):
        bigfit.LabelPropagation().fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="shares sum to"):
        bigfit.LabelSpreading().fit(X, p / 2)
    with pytest.raises(ValueError, match="3 classes and classes names 2"):
        bigfit.LabelSpreading().fit(X, p, classes=["a", "b"])
    with pytest.raises(ValueError, match="one label a point"):
        bigfit.LabelSpreading().fit(X, y, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="sample_weight"):
        bigfit.LabelSpreading().fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="120 samples and sample_weight has 3"):
        bigfit.LabelSpreading().fit(X, y, sample_weight=[1, 1, 1])
    with pytest.raises(ValueError, match="are probabilities"):
        bigfit.LabelSpreading().fit(X, p).update(y=y)
