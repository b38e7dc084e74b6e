"""Label embeddings: vectors of a network, ids, and names for forty of them.

The first task of docs/guide, from Python. Cells begin with ``# %%``.
"""

# %% Vectors in a file stand for those of a network. The program maps the same file.
import tempfile
from pathlib import Path

import numpy as np

from bigfit import EigenmapClassifier
from bigfit.datasets import make_digits

images, digits = make_digits(2000, random_state=0)
names = np.array("zero one two three four five six seven eight nine".split())[digits]
folder = tempfile.TemporaryDirectory()
np.save(Path(folder.name) / "emb.npy", images)
X = np.load(Path(folder.name) / "emb.npy", mmap_mode="r")

# %% Labels of forty points, four a class; "" marks the others.
r = np.random.default_rng(0)
known = np.concatenate([r.choice(np.flatnonzero(digits == d), 4, replace=False) for d in range(10)])
y = np.full(len(X), "", dtype=names.dtype)
y[known] = names[known]

# %% Fit. verbose=1 prints what was understood and how long each stage took.
model = EigenmapClassifier(pca=50, n_neighbors=10, weights="self-tuning", eigenvectors=100, penalty="iterated").fit(X, y)
error = (model.transduction_ != names).mean()
print(f"{error:.1%} of 2000 points are wrong, with 40 labels")
assert error < 0.25

# %% The least certain ones are those to look at.
certain = model.predict_proba(X).max(axis=1)
print("look at", np.argsort(certain)[:5])

# %% New points, and names for them.
new, truth = make_digits(2000, random_state=2)
print(model.predict(new[:3]))
assert (model.predict(new) == np.array("zero one two three four five six seven eight nine".split())[truth]).mean() > 0.7
folder.cleanup()
