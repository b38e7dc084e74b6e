"""A service: the graph and the model once, answers for single points.

The fifth task of docs/guide, from Python. A call starts the program, which takes some ten
milliseconds; for less, use the library in Go, as docs/guide/5-service.md does.
"""

# %% LapSVC answers by a function of the point: it keeps no graph.
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.datasets import make_moons

from bigfit import LapSVC

X, truth = make_moons(400, noise=0.1, random_state=0)
y = np.full(400, -1)
y[[*np.flatnonzero(truth == 0)[:3], *np.flatnonzero(truth == 1)[:3]]] = [0, 0, 0, 1, 1, 1]
model = LapSVC(gamma_a=1e-3, gamma_i=1e-1, sigma=0.3, n_jobs=1).fit(X, y)
print(f"{(model.transduction_ == truth).mean():.1%} right with 6 labels")
assert (model.transduction_ == truth).mean() > 0.9


# %% A handler: JSON in, JSON out; bad input is a ValueError with the place.
def answer(body):
    """Return the answer for a request, as a web framework calls it."""
    try:
        points = np.asarray(json.loads(body)["points"], dtype=float)
        return 200, {"classes": model.predict(points).tolist(), "margins": model.decision_function(points).tolist()}
    except ValueError as error:
        return 400, {"error": str(error)}


# %% Requests of several threads at once.
bodies = [json.dumps({"points": X[i : i + 5].tolist()}) for i in range(0, 40, 5)] + ['{"points": [[NaN, 1]]}']
with ThreadPoolExecutor(4) as threads:
    answers = list(threads.map(answer, bodies))
assert [code for code, _ in answers] == [200] * 8 + [400]
assert "row 0, column 0 is NaN" in answers[-1][1]["error"]
print(answers[0], answers[-1])
