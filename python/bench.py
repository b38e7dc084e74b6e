"""Measures the estimators beside scikit-learn's, in one run, as ratios.

    python3 bench.py                       # all rows
    python3 bench.py --rows overhead,knn   # some
    python3 bench.py --n 10000             # fewer points

Needs MNIST in ``$BIGFIT_DATA`` for all rows but ``overhead`` and ``components``. Both sides have the
same points in memory and all processors; times are of the fit alone, one run. Results go to
``bench-results/python.md`` and ``.json`` of the working folder.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import cluster, manifold, neighbors, semi_supervised

import bigfit
from bigfit import _binary, graph

ROWS = {}

#: Seconds after which a run of scikit-learn's eigensolvers is ended.
LIMIT = 300


def row(name):
    def add(function):
        ROWS[name] = function
        return function

    return add


def seconds(function):
    start = time.perf_counter()
    out = function()
    return time.perf_counter() - start, out


def limited(function, limit):
    """Return the seconds and the result of a function, or the limit and None where it takes longer."""
    receive, send = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: send.send(seconds(function)), daemon=True)
    child.start()
    there = receive.poll(limit)
    out = receive.recv() if there else (limit, None)
    child.terminate()
    child.join()
    return out


def mnist(n, dtype="f4"):
    folder = Path(os.environ["BIGFIT_DATA"])
    with np.load(folder / "mnist_train_images.npz") as held:
        X = held[held.files[0]].reshape(60000, -1)[:n]
    return X.astype(dtype), np.load(folder / "mnist_train_labels.npy")[:n].astype(int)


def labels(truth, count):
    y = np.full(len(truth), -1)
    known = np.random.default_rng(0).permutation(len(truth))[:count]
    y[known] = truth[known]
    return y


@row("overhead")
def overhead(n):
    """A call at n = 100, and what a large fit takes above the command line."""
    r = np.random.default_rng(0)
    X = np.vstack([r.normal(size=(50, 5)), r.normal(size=(50, 5)) + 4])
    y = labels(np.repeat([0, 1], 50), 10)
    fits, calls = [], []
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/y.npy", y)
        for _ in range(15):
            fits.append(seconds(lambda: bigfit.LabelSpreading(calibrate="none").fit(X, y))[0])
            calls.append(command(folder, "--calibrate=none"))
        out = [("a fit to 100 points", np.median(fits), "the command line", np.median(calls), {"milliseconds above": 1e3 * (np.median(fits) - np.median(calls))})]
        if "BIGFIT_DATA" in os.environ:
            X, truth = mnist(n)
            y = labels(truth, 100)
            np.save(f"{folder}/X.npy", X)
            np.save(f"{folder}/y.npy", y)
            there = command(folder, "--proba=q.npy")  # which fit keeps, too
            ours, _ = seconds(lambda: bigfit.LabelSpreading().fit(X, y))
            out.append((f"a fit to {n} × 784 float32", ours, "the command line", there, {"percent above": 100 * (ours / there - 1)}))
    return out


def command(folder, *flags):
    words = [_binary.find(), "fit", "--model=lgc", "X.npy", "y.npy", "-q", "--unlabeled=-1", "-o", "m.npz", "--predictions=p.npz", *flags]
    return seconds(lambda: subprocess.run(words, cwd=folder, check=True, capture_output=True, env=_binary.environment()))[0]


@row("spreading")
def spreading(n):
    """MNIST with 100 labels, from float32 images to labels; scikit-learn takes three times as long from bytes."""
    X, truth = mnist(n)
    y = labels(truth, 100)
    ours, a = seconds(lambda: bigfit.LabelSpreading(n_neighbors=7, calibrate="none").fit(X, y))
    theirs, b = seconds(lambda: semi_supervised.LabelSpreading(kernel="knn", n_neighbors=7, n_jobs=-1).fit(X, y))
    wrong = [100 * (m.transduction_ != truth)[y < 0].mean() for m in (a, b)]
    return [(f"LabelSpreading, MNIST {n}, 100 labels", ours, "scikit-learn", theirs, {"error %": wrong[0], "error % there": wrong[1]})]


def subspaces(W, coordinates):
    """Return the sine of the largest angle between the span of coordinates and that of SciPy's eigenvectors."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import eigsh

    root = np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    _, vectors = eigsh(diags(1 / root) @ W @ diags(1 / root), k=coordinates.shape[1] + 1, which="LA", tol=1e-10)
    vectors = vectors - np.outer(root, root @ vectors) / (root @ root)
    p = np.linalg.svd(vectors, full_matrices=False)[0][:, :-1]
    q = np.linalg.qr(root[:, None] * coordinates)[0]
    return np.linalg.norm(q - p @ (p.T @ q), 2)


def mended(W, k, normalize=True):
    """Return the first k eigenvectors of the normalized Laplacian as scikit-learn's default asks ARPACK for them.

    Up to 1.2.1 the call was ``eigsh(-L, sigma=1.0)``, which inverts about the wrong end of the
    spectrum; later versions ask ``eigsh(L, sigma=-1e-5, which="LM")``, and so does this.
    """
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh

    L, root = laplacian(W, normed=True, return_diag=True)
    start = np.random.RandomState(0).uniform(-1, 1, W.shape[0])
    values, vectors = eigsh(L.tocsc(), k=k, sigma=-1e-5, which="LM", tol=0, v0=start)
    return values, vectors / root[:, None] if normalize else vectors


def beside(work, ours, theirs, compare):
    """Return a row for each of scikit-learn's eigensolvers that need no further package."""
    own, a = seconds(ours)
    for solver in ("arpack", "lobpcg"):
        there, b = limited(lambda: theirs(solver), LIMIT)
        more = compare(a) if b is None else {**compare(a), **{f"{k} there": v for k, v in compare(b).items()}}
        yield work, own, f"scikit-learn, {solver}" + (", not ended" if b is None else ""), there, more


@row("embedding")
def embedding(n):
    """Ten coordinates of one graph, and the angle between their subspace and SciPy's."""
    X, _ = mnist(n)
    W = graph.knn_graph(X, 10)
    return beside(
        f"SpectralEmbedding(10), MNIST {n}",
        lambda: bigfit.SpectralEmbedding(n_components=10, weights="precomputed").fit_transform(W),
        lambda solver: mended(W, 11)[1][:, 1:] if solver == "arpack" else manifold.SpectralEmbedding(
            n_components=10, affinity="precomputed", eigen_solver=solver, random_state=0, n_jobs=-1).fit_transform(W),
        lambda e: {"sine of the angle to SciPy's": subspaces(W, e)},
    )


@row("clusters")
def clusters(n):
    """Ten clusters of one graph."""
    from sklearn.metrics import normalized_mutual_info_score

    X, truth = mnist(n)
    W = graph.knn_graph(X, 10)
    return beside(
        f"SpectralClustering(10), MNIST {n}",
        lambda: bigfit.SpectralClustering(n_clusters=10, weights="precomputed").fit_predict(W),
        lambda solver: cluster.k_means(mended(W, 10)[1], 10, n_init=10, random_state=0)[1] if solver == "arpack" else cluster.SpectralClustering(
            n_clusters=10, affinity="precomputed", eigen_solver=solver, random_state=0, n_jobs=-1).fit_predict(W),
        lambda found: {"NMI": normalized_mutual_info_score(truth, found)},
    )


@row("components")
def components(n):
    """Null vectors of a graph of 28 components: ours, and ARPACK's, called as scikit-learn's embedding does."""
    r = np.random.default_rng(0)
    X = r.normal(size=(28 * 200, 3)) * 0.1 + np.repeat(np.arange(28), 200)[:, None] * 10
    W = graph.knn_graph(X, 10)
    ours, values = seconds(lambda: graph.eigs(W, 28, laplacian="normalized", return_eigenvectors=False))
    theirs, (there, _) = seconds(lambda: mended(W, 28, normalize=False))
    found = int((np.abs(there) < 1e-8).sum())
    return [("28 null vectors of 28 components", ours, "ARPACK", theirs, {"found": int((np.abs(values) < 1e-8).sum()), "found there": found})]


@row("knn")
def knn(n):
    """Exact neighbours in 100 dimensions."""
    X, _ = mnist(n)
    X = np.ascontiguousarray((X - X.mean(axis=0)) @ np.linalg.eigh(np.cov(X[:5000].T))[1][:, -100:], dtype="f4")
    ours, a = seconds(lambda: bigfit.KNeighborsTransformer(n_neighbors=10, method="brute").fit_transform(X))
    theirs, b = seconds(lambda: neighbors.KNeighborsTransformer(n_neighbors=10, n_jobs=-1).fit_transform(X))
    same = (np.sort(a.indices.reshape(n, -1)) == np.sort(b.indices.reshape(n, -1))).all(axis=1).mean()
    return [(f"KNeighborsTransformer, exact, {n} × 100", ours, "scikit-learn", theirs, {"rows with the same neighbours": same})]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default=",".join(ROWS), help="names of rows (default: all)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that scikit-learn's eigensolvers have (default: %(default)s)")
    parser.add_argument("--n", type=int, default=60000, help="points of MNIST")
    chosen = parser.parse_args()
    globals()["LIMIT"] = chosen.limit
    warnings.simplefilter("ignore")
    _binary.find()
    out = Path("bench-results")
    out.mkdir(exist_ok=True)
    table = []
    lines = ["| work | ours, s | peer | peer, s | ratio | |", "| --- | --- | --- | --- | --- | --- |"]
    for name in chosen.rows.split(","):
        for work, ours, peer, theirs, more in ROWS[name](chosen.n):
            table.append({"work": work, "seconds": ours, "peer": peer, "peer_seconds": theirs, "ratio": theirs / ours, **more})
            notes = ", ".join(f"{k} {v:.3g}" for k, v in more.items())
            lines.append(f"| {work} | {ours:.3f} | {peer} | {theirs:.3f} | {theirs / ours:.2f} | {notes} |")
            print(lines[-1], flush=True)
            (out / "python.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
            (out / "python.json").write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
