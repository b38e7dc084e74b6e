"""Kernel ridge regression of Ji et al. (2012), Tables 2 and 3, with scikit-learn, tuned and not tuned:

    /usr/bin/python3 bench/peers/krr_search.py $BIGFIT_DATA [DRAWS]

Reads wine_white.npz and insurance_coil2000.npz. The test points of the draws, ten or fewer, are tenths of one permutation, and
2 to 9 % of all points, drawn from the others, have a label. The kernel is Gaussian. "plain" has σ the median distance,
0.01 on the diagonal and the labels as they are; "tuned" has centred labels, and σ of 1 or 2 median distances and the
diagonal by fivefold cross-validation. Columns are scaled to [0, 1] or replaced by their ranks among the training points.
Prints mean squared errors on the test points, means over the draws, beside the paper's.
"""
import sys

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold

PAPER = {
    "insurance": [0.0804, 0.0778, 0.0779, 0.0747, 0.0739, 0.0711, 0.0672, 0.0675],
    "wine": [0.931, 0.927, 0.799, 0.759, 0.714, 0.681, 0.650, 0.668],
}
FILES = {"wine": "wine_white.npz", "insurance": "insurance_coil2000.npz"}
RATES = range(2, 10)
DRAWS = 10


def unit(train, x):
    """Scales columns to [0, 1] over the training points."""
    low, high = train.min(0), train.max(0)
    return (x - low) / np.where(high > low, high - low, 1)


def ranks(train, x):
    """Replaces values by their ranks among the training points, half of the equal ones counted."""
    out = np.empty(x.shape)
    for j in range(x.shape[1]):
        column = np.sort(train[:, j])
        below = np.searchsorted(column, x[:, j], "left")
        out[:, j] = (below + np.searchsorted(column, x[:, j], "right")) / 2 / len(column)
    return out


def median(x, rng):
    """The median distance, of a thousand points."""
    return np.median(pdist(x[rng.permutation(len(x))[:1000]]))


def plain(x, y, width):
    """The machine without any choice, and the constant that its labels were less by."""
    return KernelRidge(alpha=0.01, kernel="rbf", gamma=1 / (2 * width**2)).fit(x, y), 0.0


def tuned(x, y, width):
    """The machine with its ridge and width by cross-validation on centred labels."""
    grid = {"alpha": np.logspace(-3, 1, 5), "gamma": [1 / (2 * (s * width) ** 2) for s in (1, 2)]}
    search = GridSearchCV(KernelRidge(kernel="rbf"), grid, scoring="neg_mean_squared_error",
                          cv=KFold(5, shuffle=True, random_state=0))
    return search.fit(x, y - y.mean()), y.mean()


def main():
    for name, file in FILES.items():
        with np.load(f"{sys.argv[1]}/{file}") as f:
            points, values = np.asarray(f["X"], float), np.asarray(f["y"], float)
        n = len(points)
        order = np.random.default_rng(1).permutation(n)
        errors = {}
        for draw in range(int(sys.argv[2]) if len(sys.argv) > 2 else DRAWS):
            rng = np.random.default_rng(100 + draw)
            test = order[n * draw // DRAWS : n * (draw + 1) // DRAWS]
            train = rng.permutation(np.setdiff1d(order, test))
            for scaling in (unit, ranks):
                x, xt = scaling(points[train], points[train]), scaling(points[train], points[test])
                width = median(x, rng)
                for rate in RATES:
                    known = values[train[: n * rate // 100]]
                    errors.setdefault(("mean of the labels", ""), {}).setdefault(rate, []).append(
                        np.mean((values[test] - known.mean()) ** 2))
                    for machine in (plain, tuned):
                        model, constant = machine(x[: len(known)], known, width)
                        e = np.mean((values[test] - model.predict(xt) - constant) ** 2)
                        errors.setdefault((machine.__name__, scaling.__name__), {}).setdefault(rate, []).append(e)
        print(f"{name}, squared error at {RATES[0]} to {RATES[-1]} % of labels")
        print(f"  {'the paper':24}", *(f"{v:.4f}" for v in PAPER[name]))
        for (machine, scaling), by_rate in errors.items():
            print(f"  {machine + ' ' + scaling:24}", *(f"{np.mean(by_rate[r]):.4f}" for r in RATES))


main()
