"""Errors of the default, of our poisson-mbo and of GraphLearning's on the published draws of labels of MNIST.

Debian: python3-numpy python3-scipy python3-sklearn python3-matplotlib.  Arguments: our program; the folder that holds the
package graphlearning of github.com/jwcalder/GraphLearning; the 70,000 images as .npy and their labels as .npy; the file
mnist70k_few_labels.npz; labels of each class; true or equal, the sizes of the classes that both poisson-mbo are given
(the default is given the true ones, and none in place of equal ones); and the number of draws.  The two poisson-mbo share one
graph file; the default makes the same graph.  Prints the errors and seconds of each draw, and the means.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse

program, package, images, labels, draws, count, sizes, most = sys.argv[1:9]
sys.path.insert(0, package)
import graphlearning as gl  # noqa: E402

truth = np.load(labels).astype(int)
classes = int(truth.max()) + 1
shares = np.bincount(truth) / len(truth) if sizes == "true" else np.full(classes, 1 / classes)
folder = tempfile.mkdtemp()
graph, y, model, answers = (os.path.join(folder, name) for name in ("graph.npz", "y.npy", "model.npz", "answers.npy"))


def ours(*arguments):
    subprocess.run([program, *arguments, "-q"], check=True, stdout=subprocess.DEVNULL)


# The graph of the default.
ours("graph", images, "-k", "10", "--pca", "50", "--weights", "self-tuning", "-o", graph)
W = scipy.sparse.load_npz(graph).tocsr()
priors = ",".join("%d:%.17g" % pair for pair in enumerate(shares))

errors = []
for draw, rows in enumerate(np.load(draws)["l" + count][:int(most)]):
    given = np.full(len(truth), -1)
    given[rows] = truth[rows]
    np.save(y, given)
    rest = np.setdiff1d(np.arange(len(truth)), rows)

    began = time.perf_counter()
    ours("fit", "--model", "poisson-mbo", "--graph", graph, "-X", images, "-y", y, "--priors", priors, "-o", model)
    ours("predict", model, "-o", answers)
    mbo = np.load(answers)
    between = time.perf_counter()
    ours("fit", images, y, "-o", model, *(["--priors", priors] if sizes == "true" else []))
    ours("predict", model, "-o", answers)
    default = np.load(answers)
    fitted = time.perf_counter()
    theirs = gl.ssl.poisson_mbo(W, shares).fit_predict(rows, truth[rows])
    ended = time.perf_counter()

    row = [100 * np.mean(p[rest] != truth[rest]) for p in (default, mbo, theirs)]
    errors.append(row)
    print("draw %d: default %.2f %% in %.1f s, poisson-mbo %.2f %% in %.1f s with files, theirs %.2f %% in %.1f s"
          % (draw, row[0], fitted - between, row[1], between - began, row[2], ended - fitted), flush=True)
print("mean: default %.2f %%, poisson-mbo %.2f %%, theirs %.2f %%" % tuple(np.mean(errors, axis=0)))
