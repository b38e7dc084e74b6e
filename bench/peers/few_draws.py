"""Errors of the default, of our poisson-mbo and of GraphLearning's on the published draws of labels of MNIST.

Debian: python3-numpy python3-scipy python3-sklearn python3-matplotlib.  Arguments: our program; the folder that holds the
package graphlearning of github.com/jwcalder/GraphLearning; the 70,000 images as .npy and their labels as .npy; the file
mnist70k_few_labels.npz; labels of each class; true or equal, the sizes of the classes that both poisson-mbo are given
(the default is given the true ones, and none in place of equal ones); the number of draws, or a range of them as 5:20; and
"ours" or "theirs" where the others are measured already.  The two poisson-mbo share one graph file; the default makes the same graph.  Prints
the errors and seconds of each draw, and the means.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse

program, package, images, labels, draws, count, sizes, span = sys.argv[1:9]
whose = sys.argv[9:] or ["ours", "theirs"]
first, last = map(int, span.split(":")) if ":" in span else (0, int(span))
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

# A method returns its answers for all points.
def our_mbo(rows):
    ours("fit", "--model", "poisson-mbo", "--graph", graph, "-X", images, "-y", y, "--priors", priors, "-o", model)
    ours("predict", model, "-o", answers)
    return np.load(answers)


def our_default(rows):
    ours("fit", images, y, "-o", model, *(["--priors", priors] if sizes == "true" else []))
    ours("predict", model, "-o", answers)
    return np.load(answers)


def their_mbo(rows):
    return gl.ssl.poisson_mbo(W, shares).fit_predict(rows, truth[rows])


methods = {}
if "ours" in whose:
    methods = {"default": our_default, "poisson-mbo": our_mbo}
if "theirs" in whose:
    methods["theirs"] = their_mbo

errors = []
for draw in range(first, last):
    rows = np.load(draws)["l" + count][draw]
    given = np.full(len(truth), -1)
    given[rows] = truth[rows]
    np.save(y, given)
    rest = np.setdiff1d(np.arange(len(truth)), rows)

    row = []
    line = "draw %d:" % draw
    for name, method in methods.items():
        began = time.perf_counter()
        found = method(rows)
        took = time.perf_counter() - began
        row.append(100 * np.mean(found[rest] != truth[rest]))
        line += " %s %.2f %% in %.1f s" % (name, row[-1], took)
    errors.append(row)
    print(line, flush=True)
print("mean:", *("%s %.2f %%" % pair for pair in zip(methods, np.mean(errors, axis=0))))
