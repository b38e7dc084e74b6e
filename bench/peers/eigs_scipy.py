"""ARPACK through scipy.sparse.linalg.eigsh: the k smallest eigenpairs of a graph Laplacian.

Debian: python3-numpy python3-scipy.  Arguments: W.npz k normalized|combinatorial tolerance
"""
import json
import sys
import time

import numpy
import scipy.sparse
import scipy.sparse.linalg

path, k, kind, tolerance = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
weights = scipy.sparse.load_npz(path).tocsr()
degree = numpy.asarray(weights.sum(axis=1)).reshape(-1)
if kind == "normalized":
    root = numpy.zeros_like(degree)
    root[degree > 0] = degree[degree > 0] ** -0.5
    adjacency = (scipy.sparse.diags(root) @ weights @ scipy.sparse.diags(root)).tocsr()
    laplacian = scipy.sparse.identity(len(degree), format="csr") - adjacency
else:
    laplacian = (scipy.sparse.diags(degree) - weights).tocsr()

start = time.perf_counter()
if kind == "normalized":
    # The same pairs at the other end of I - L, where ARPACK is fastest.
    values, vectors = scipy.sparse.linalg.eigsh(adjacency, k=k, which="LA", tol=tolerance)
    values = 1 - values
else:
    values, vectors = scipy.sparse.linalg.eigsh(laplacian, k=k, which="SA", tol=tolerance)
seconds = time.perf_counter() - start

residual = numpy.linalg.norm(laplacian @ vectors - vectors * values, axis=0).max()
gram = vectors.T @ vectors
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({
    "peer": "scipy eigsh (ARPACK)", "seconds": seconds, "max_residual": float(residual),
    "orthogonality": float(numpy.abs(gram - numpy.eye(k)).max()), "last_value": float(values.max()),
    "peak_bytes": peak,
}))
