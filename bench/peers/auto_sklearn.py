"""Label spreading, a tuned support vector machine and the nearest labeled point, on given labels.

Debian: python3-numpy python3-scipy python3-sklearn.  Arguments: the file of the points, and the folder of
rows.npy, truth.npy and given.npy as bench/auto writes them
"""
import json
import os
import sys
import time
import warnings

import numpy as np
import scipy.sparse
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

warnings.filterwarnings("ignore")  # few labels, few iterations
path, folder = sys.argv[1:]
rows, truth, given = (np.load(os.path.join(folder, name + ".npy")) for name in ("rows", "truth", "given"))
with np.load(path) as file:
    dense = "X" in file.files
    x = file["X"].astype(np.float64)[rows] if dense else None
if not dense:
    x = scipy.sparse.load_npz(path).tocsr().astype(np.float64)[rows]
n = len(rows)
graph = NearestNeighbors(n_neighbors=7).fit(x).kneighbors_graph(x, 7, mode="connectivity")  # as LabelSpreading makes it


def report(peer, start, answers, asked):
    print(json.dumps({"peer": peer, "seconds": time.perf_counter() - start, "error": 100 * float(np.mean(answers[asked] != truth[asked]))}), flush=True)


def tuned(x, y):
    counts = np.bincount(y)
    folds = StratifiedKFold(int(max(2, min(5, counts[counts > 0].min()))), shuffle=True, random_state=0)
    mean = x.mean()
    variance = (x.multiply(x).mean() if scipy.sparse.issparse(x) else (x * x).mean()) - mean * mean
    scale = 1 / (x.shape[1] * variance) if variance > 0 else 1
    if counts.max() < 2:  # nothing can be held out: scikit-learn's defaults
        return SVC(gamma=scale).fit(x, y)
    grid = {"C": [0.1, 1, 10, 100], "gamma": [scale * f for f in (0.03, 0.1, 0.3, 1, 3)]}
    return GridSearchCV(SVC(), grid, cv=folds).fit(x, y)


for draw in range(given[:, 0].max() + 1):
    labeled = given[given[:, 0] == draw, 1]
    asked = np.setdiff1d(np.arange(n), labeled)
    y = np.full(n, -1)
    y[labeled] = truth[labeled]
    for alpha in (0.2, 0.99):
        start = time.perf_counter()
        model = LabelSpreading(kernel=lambda a, b=None: graph, alpha=alpha, max_iter=1000).fit(np.zeros((n, 1)), y)
        report(f"LabelSpreading {alpha}", start, model.transduction_, asked)
    start = time.perf_counter()
    report("SVC tuned", start, tuned(x[labeled], truth[labeled]).predict(x), asked)
    start = time.perf_counter()
    report("1-NN", start, KNeighborsClassifier(1).fit(x[labeled], truth[labeled]).predict(x), asked)
