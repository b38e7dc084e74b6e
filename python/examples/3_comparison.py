"""A comparison on one's own data: settings and models by labels that were held out.

The third task of docs/guide, from Python.
"""

# %%
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score

from bigfit import LabeledKFold, LabelPropagation, LabelSpreading, Poisson

X, digits = load_digits(return_X_y=True)
X, digits = X[:600].astype("f4"), digits[:600]
y = digits.copy()
y[np.random.default_rng(0).permutation(600)[80:]] = -1

# %% Folds of the labeled points; all others are in every training set.
folds = LabeledKFold(4, random_state=0)
for model in (LabelSpreading(calibrate="none"), LabelPropagation(calibrate="none"), Poisson(calibrate="none")):
    scores = cross_val_score(model, X, y, cv=folds)
    print(f"{type(model).__name__:<18} {scores.mean():.3f} ± {scores.std():.3f}")
    assert scores.mean() > 0.7

# %% Settings by the same folds.
grid = {"n_neighbors": [4, 8], "weights": ["one", "self-tuning"]}
search = GridSearchCV(LabelSpreading(calibrate="none"), grid, cv=folds).fit(X, y)
print(search.best_params_, f"{search.best_score_:.3f}")
unlabeled = y == -1
right = (search.best_estimator_.transduction_[unlabeled] == digits[unlabeled]).mean()
print(f"of the points without a label {right:.1%} are right")
assert right > 0.85
