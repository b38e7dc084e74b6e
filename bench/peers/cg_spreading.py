"""Label spreading by sklearn.semi_supervised.LabelSpreading on a graph that is given, for several draws of the labels.

Debian: python3-numpy python3-scipy python3-sklearn.  Arguments: W.npz truth.npy draws.npy alpha
draws.npy has a row of labels for each draw, -1 for none.
"""
import json
import sys
import time
import warnings

import numpy
import scipy.sparse
import sklearn.semi_supervised

path, truth, draws, alpha = sys.argv[1], numpy.load(sys.argv[2]), numpy.load(sys.argv[3]), float(sys.argv[4])
weights = scipy.sparse.load_npz(path).tocsr()
points = numpy.arange(len(truth), dtype=float).reshape(-1, 1)  # their numbers: the graph is all that counts
warnings.simplefilter("ignore")  # the iterations tell whether it converged
seconds, errors, iterations = [], [], 0
for labels in draws:
    model = sklearn.semi_supervised.LabelSpreading(kernel=lambda a, b: weights, alpha=alpha, max_iter=200)
    start = time.perf_counter()
    model.fit(points, labels)
    seconds.append(time.perf_counter() - start)
    iterations = max(iterations, model.n_iter_)
    unlabeled = labels < 0
    errors.append((model.transduction_ != truth)[unlabeled].mean())
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({
    "peer": "scikit-learn LabelSpreading", "seconds": float(numpy.mean(seconds)), "error_percent": 100 * float(numpy.mean(errors)),
    "iterations": int(iterations), "converged": bool(iterations < 200), "peak_bytes": peak,
}))
