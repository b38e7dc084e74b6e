"""Label in a browser, from nothing.

The sixth task of docs/guide, from Python. An array answers in place of a person, so that the example ends by itself.
"""

# %% Images of digits, none of them labeled.
import tempfile
from pathlib import Path

from sklearn.datasets import load_digits

from bigfit import AutoClassifier, label

X, truth = load_digits(return_X_y=True)
folder = tempfile.TemporaryDirectory()
labels_file = Path(folder.name) / "labels.csv"

# %% A person runs this, opens the address that it prints, and ends it by "Finish" on the page or by an interrupt:
#
#     done = label(X, show="image:8x8", labels_file="labels.csv")
#
# Here an oracle answers sixty questions through the same server.
done = label(X, show="image:8x8", labels_file=labels_file, oracle=truth, n=60)
error = (done.predictions != truth).mean()
print(f"{error:.1%} of {len(X)} points are wrong, with {(done.labels >= 0).sum()} labels")
assert (done.labels >= 0).sum() == 60 and error < 0.1

# %% Twenty more: the same call goes on from the file. None fits no model.
more = label(X, show="image:8x8", labels_file=labels_file, oracle=truth, n=20, model=None)
print(more.summary["labeled"], "labels; the estimate of the error is", more.summary["estimate"])
assert (more.labels >= 0).sum() > 75

# %% The labels are an array like any other.
model = AutoClassifier().fit(X, more.labels)
print(f"{(model.transduction_ != truth).mean():.1%} of the points are wrong")
assert (model.transduction_ != truth).mean() < 0.1
print(model.suspects(5)["row"])
folder.cleanup()
