"""Errors of the default model on tables whose columns have different units, in percent of the points without a label.

Debian: python3-numpy python3-sklearn. Needs the package in python/src, a program in BIGFIT_BIN, and BIGFIT_DATA for wine_white.
The first two sets come with scikit-learn; "digits" and "iris", whose columns are comparable, are left as they are.
"""

import os
import sys
import warnings

import numpy
from sklearn import datasets
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "src"))
import bigfit

DRAWS = 10


def wine_white():
    """Wines of UCI, good (6 to 9) or not, as a table of two classes."""
    table = numpy.load(os.path.join(os.environ["BIGFIT_DATA"], "wine_white.npz"))
    return table["X"], (table["y"] > 5).astype(int)


SETS = {
    "wine of scikit-learn, 178×13, 3 classes": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer, 569×30, 2 classes": lambda: datasets.load_breast_cancer(return_X_y=True),
    "wine_white, 4898×11, 2 classes": wine_white,
    "digits, 1797×64, 10 classes": lambda: datasets.load_digits(return_X_y=True),
    "iris, 150×4, 3 classes": lambda: datasets.load_iris(return_X_y=True),
}


def support_vectors(labels):
    """An SVC of standardized columns; C by cross-validation where there are labels for it."""
    svc = make_pipeline(StandardScaler(), SVC())
    if labels < 5:
        return svc
    return GridSearchCV(svc, {"svc__C": [0.1, 1, 10, 100]}, cv=StratifiedKFold(5, shuffle=True, random_state=0))


def errors(x, truth, per_class, seed):
    """Errors of a draw of labels: the default, without standardized columns, SVC and nearest label with them."""
    rng = numpy.random.RandomState(seed)
    y = numpy.full(len(truth), -1)
    for c in numpy.unique(truth):
        of = rng.permutation(numpy.flatnonzero(truth == c))
        y[of[:per_class]] = c
    labeled, rest = y >= 0, y < 0
    out = [
        numpy.mean(bigfit.AutoClassifier(standardize=given).fit(x, y).transduction_[rest] != truth[rest])
        for given in (None, False)
    ]
    for peer in (support_vectors(per_class), make_pipeline(StandardScaler(), KNeighborsClassifier(1))):
        peer.fit(x[labeled], y[labeled])
        out.append(numpy.mean(peer.predict(x[rest]) != truth[rest]))
    return out


warnings.simplefilter("ignore")
print("| set | labels a class | auto | `--standardize=false` | SVC, standardized | nearest label, standardized |")
print("|---|---|---|---|---|---|")
for name, read in SETS.items():
    x, truth = read()
    for per_class in (1, 2, 5, 20):
        table = 100 * numpy.array([errors(x, truth, per_class, seed) for seed in range(DRAWS)])
        cells = " | ".join("%.1f ± %.1f" % (m, s) for m, s in zip(table.mean(axis=0), table.std(axis=0, ddof=1)))
        print("| %s | %d | %s |" % (name, per_class, cells), flush=True)
