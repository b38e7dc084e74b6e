"""LOBPCG of scipy.sparse.linalg: the k smallest eigenpairs of a graph Laplacian from a random start.

Debian: python3-numpy python3-scipy.  Arguments: W.npz k normalized|combinatorial tolerance
"""
import json
import sys
import time
import warnings

import numpy
import scipy.sparse
import scipy.sparse.linalg

path, k, kind, tolerance = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
weights = scipy.sparse.load_npz(path).tocsr()
degree = numpy.asarray(weights.sum(axis=1)).reshape(-1)
laplacian = (scipy.sparse.diags(degree) - weights).tocsr()
if kind == "normalized":
    root = numpy.zeros_like(degree)
    root[degree > 0] = degree[degree > 0] ** -0.5
    laplacian = (scipy.sparse.diags(root) @ laplacian @ scipy.sparse.diags(root)).tocsr()

start = time.perf_counter()
block = numpy.random.default_rng(1).standard_normal((len(degree), k))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the residual below says how far it came
    values, vectors = scipy.sparse.linalg.lobpcg(laplacian, block, tol=tolerance, maxiter=500, largest=False)
seconds = time.perf_counter() - start

residual = numpy.linalg.norm(laplacian @ vectors - vectors * values, axis=0).max()
gram = vectors.T @ vectors
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({
    "peer": "scipy lobpcg", "seconds": seconds, "max_residual": float(residual),
    "orthogonality": float(numpy.abs(gram - numpy.eye(k)).max()), "last_value": float(values.max()),
    "peak_bytes": peak,
}))
