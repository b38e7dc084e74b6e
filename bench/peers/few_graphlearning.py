"""Labels of our methods for few labels beside those of their authors' programs, on one graph file.

Debian: python3-numpy python3-scipy python3-sklearn python3-matplotlib.  Arguments: our program, the folder that holds the
package graphlearning of github.com/jwcalder/GraphLearning, points.npy and labels.npy; and the folder that holds CutSSL.py
of github.com/Mishne-Lab/CutSSL, if it is to run too.  Prints the share of the points with the same label, and both errors.
"""
import os
import subprocess
import sys
import tempfile
import time
import types

import numpy as np
import scipy.sparse

program, package, points, labels = sys.argv[1:5]
sys.path.insert(0, package)
import graphlearning as gl  # noqa: E402

cutssl = None
if len(sys.argv) > 5:
    quiet = types.ModuleType("tqdm.notebook")
    quiet.tqdm = lambda steps: steps
    sys.modules["tqdm"] = types.ModuleType("tqdm")
    sys.modules["tqdm.notebook"] = quiet
    sys.path.insert(0, sys.argv[5])
    import CutSSL as cutssl

truth = np.load(labels).astype(int)
classes = int(truth.max()) + 1
priors = np.bincount(truth, minlength=classes) / len(truth)
folder = tempfile.mkdtemp()
graph = os.path.join(folder, "graph.npz")
subprocess.run([program, "graph", points, "-k", "10", "--weights", "self-tuning", "-o", graph, "-q"], check=True)
W = scipy.sparse.load_npz(graph).tocsr()
given = ",".join(str(v) for v in priors)

# Their conjugate gradients stop at 1e-3 by default, after which labels still change.
METHODS = [
    ("harmonic", ["--tolerance", "1e-10"], lambda: gl.ssl.laplace(W, tol=1e-10)),
    ("poisson", ["--tolerance", "1e-10"], lambda: gl.ssl.poisson(W, tol=1e-10)),
    ("reweighted", ["--tolerance", "1e-10"], lambda: gl.ssl.laplace(W, reweighting="poisson", tol=1e-10)),
    ("poisson-mbo", ["--priors", given, "--rounds", "20", "--keep-pairs"], lambda: gl.ssl.poisson_mbo(W, priors, tol=1e-10)),
]
if cutssl is not None:
    # Its functions read these of a notebook, and were written for an older version of graphlearning.
    cutssl.W = W
    cutssl.k = classes
    cutssl.utils = types.SimpleNamespace(labels_to_onehot=lambda y: gl.utils.labels_to_onehot(y, classes))
    METHODS.append(("cut", ["--priors", given, "--keep-pairs"], lambda: cutssl.cut_ssl(W, priors, s=[0, 0.1], maxiter=[100, 300])))

for rate in (1, 5):
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        train = np.concatenate([rng.choice(np.flatnonzero(truth == c), rate, replace=False) for c in range(classes)])
        y = np.full(len(truth), -1)
        y[train] = truth[train]
        np.save(os.path.join(folder, "y.npy"), y)
        rest = np.setdiff1d(np.arange(len(truth)), train)
        for name, flags, theirs in METHODS:
            start = time.perf_counter()
            subprocess.run([program, "fit", "--graph", graph, os.path.join(folder, "y.npy"), "--unlabeled", "-1", "--model", name,
                            *flags, "--calibrate", "none", "-o", os.path.join(folder, "m.npz"), "--predictions",
                            os.path.join(folder, "p.npy"), "-q"], check=True, stdout=subprocess.DEVNULL)
            ours = np.load(os.path.join(folder, "p.npy")).astype(int)
            middle = time.perf_counter()
            answers = np.asarray(theirs().fit_predict(train, truth[train])).astype(int)
            end = time.perf_counter()
            print(f"{name}, {rate} labels a class, draw {seed}: same {100 * np.mean(ours[rest] == answers[rest]):.2f} %, "
                  f"errors {100 * np.mean(ours[rest] != truth[rest]):.2f} and {100 * np.mean(answers[rest] != truth[rest]):.2f} %, "
                  f"{middle - start:.1f} and {end - middle:.1f} s", flush=True)
