"""Images from a hundred labels, and probabilities that are right as often as they say.

The second task of docs/guide, from Python.
"""

# %% A hundred labels, drawn evenly.
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bigfit import LabelSpreading
from bigfit.datasets import make_digits

images, digits = make_digits(2000, random_state=0)
r = np.random.default_rng(1)
y = np.full(2000, -1)
for d in range(10):
    rows = r.choice(np.flatnonzero(digits == d), 10, replace=False)
    y[rows] = d

# %% In a pipeline: steps in front of the model see all points, with and without labels.
model = make_pipeline(FunctionTransformer(lambda X: X.astype("f4") / 255), LabelSpreading(pca=50, n_neighbors=10, weights="self-tuning"))
model.fit(images, y)
wrong = model[-1].transduction_ != digits
print(f"{wrong.mean():.1%} wrong with 100 labels")
assert wrong.mean() < 0.15

# %% Answers below a probability can be left to people.
p = model.predict_proba(images)
sure = p.max(axis=1) > 0.9
print(f"{sure.mean():.0%} of the points are above 0.9, and {wrong[sure].mean():.1%} of those are wrong")
assert wrong[sure].mean() < wrong.mean() + 0.01

# %% Coordinates of the same graph, for a picture.
from bigfit import SpectralEmbedding  # noqa: E402

plane = SpectralEmbedding(pca=50, n_neighbors=10, weights="self-tuning").fit_transform(images)
assert plane.shape == (2000, 2)
