"""A nightly pipeline: a model that is kept, limits, and errors that say what to do.

The fourth task of docs/guide, from Python.
"""

# %% A model is fitted once and kept; the file holds the program's own model.
import pickle
import tempfile
from pathlib import Path

from sklearn.datasets import load_digits

from bigfit import LabelSpreading

X, y = load_digits(return_X_y=True)
base, nights = (X[:1000], y[:1000]), [X[1000:1400], X[1400:]]
folder = tempfile.TemporaryDirectory()
kept = Path(folder.name) / "model.pkl"
kept.write_bytes(pickle.dumps(LabelSpreading(n_neighbors=10, memory_limit="2GiB", n_jobs=2, calibrate="none").fit(*base)))

# %% Every night.
right = []
for night in nights:
    model = pickle.loads(kept.read_bytes())
    right.append(model.predict(night))
print([len(answers) for answers in right])
assert (right[0] == y[1000:1400]).mean() > 0.9

# %% What the machine does not have is refused before the work begins.
try:
    LabelSpreading(memory_limit="1MiB").fit(*base)
except MemoryError as error:
    print(error)
else:
    raise AssertionError("a fit within 1 MiB")
folder.cleanup()
