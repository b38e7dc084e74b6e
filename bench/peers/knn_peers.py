"""Nearest neighbours by other programs: k of every point, the point itself not counted.

Debian: python3-numpy python3-scipy python3-sklearn python3-faiss python3-pynndescent
Arguments: X.npy|X.npz k out.npz peer   with peer one of faiss, brute, cosine, ckdtree, balltree, pynndescent
Prints one JSON line; out.npz gets the indices, those of the points themselves too.
"""
import json
import sys
import time

import numpy

path, k, out, name = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
if path.endswith(".npy"):
    points = numpy.load(path)
else:
    with numpy.load(path) as archive:
        if "indptr" in archive.files:
            import scipy.sparse
            points = scipy.sparse.load_npz(path).astype(numpy.float64)
        else:
            points = archive["X"]
if isinstance(points, numpy.ndarray):
    points = numpy.ascontiguousarray(points, dtype=numpy.float32)


# Each of these imports its program and returns the search, which alone is timed.
def faiss():
    import faiss

    def search():
        index = faiss.IndexFlatL2(points.shape[1])
        index.add(points)
        return index.search(points, k + 1)[1]
    return search


def scikit(algorithm, metric="minkowski"):
    from sklearn.neighbors import NearestNeighbors

    def search():
        model = NearestNeighbors(n_neighbors=k + 1, algorithm=algorithm, metric=metric, n_jobs=2).fit(points)
        return model.kneighbors(points, return_distance=False)
    return search


def ckdtree():
    from scipy.spatial import cKDTree
    return lambda: cKDTree(points).query(points, k + 1, workers=2)[1]


def pynndescent():
    import pynndescent
    pynndescent.NNDescent(points[:2000], n_neighbors=k + 1)  # compiles
    return lambda: pynndescent.NNDescent(points, n_neighbors=k + 1, random_state=0).neighbor_graph[0]


peers = {
    "faiss": ("FAISS IndexFlatL2", faiss),
    "brute": ("scikit-learn brute", lambda: scikit("brute")),
    "cosine": ("scikit-learn brute, cosine", lambda: scikit("brute", "cosine")),
    "ckdtree": ("SciPy cKDTree, 2 workers", ckdtree),
    "balltree": ("scikit-learn ball_tree", lambda: scikit("ball_tree")),
    "pynndescent": ("pynndescent", pynndescent),
}
title, prepare = peers[name]
search = prepare()
start = time.perf_counter()
found = search()
seconds = time.perf_counter() - start
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({"peer": title, "seconds": seconds, "peak_bytes": peak}))
numpy.savez(out, indices=numpy.asarray(found, dtype=numpy.int64))
