"""Conjugate gradients of scipy.sparse.linalg.cg with Jacobi's preconditioner on (L + cI)X = B, column by column.

Debian: python3-numpy python3-scipy.  Arguments: W.npz c right-hand-sides tolerance
"""
import json
import sys
import time

import numpy
import scipy.sparse
import scipy.sparse.linalg

path, c, columns, tolerance = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
weights = scipy.sparse.load_npz(path).tocsr()
degree = numpy.asarray(weights.sum(axis=1)).reshape(-1)
matrix = (scipy.sparse.diags(degree + c) - weights).tocsr()
size = matrix.shape[0]
right = numpy.random.default_rng(0).standard_normal((size, columns))
inverse = 1 / (degree + c)
jacobi = scipy.sparse.linalg.LinearOperator((size, size), matvec=lambda v: v * inverse)

iterations, solution = [0] * columns, numpy.empty((size, columns))
start = time.perf_counter()
for j in range(columns):
    def count(_, j=j):
        iterations[j] += 1
    solution[:, j], _ = scipy.sparse.linalg.cg(matrix, right[:, j], tol=tolerance, maxiter=20000, M=jacobi, callback=count)
seconds = time.perf_counter() - start

residual = numpy.linalg.norm(right - matrix @ solution, axis=0) / numpy.linalg.norm(right, axis=0)
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({
    "peer": "scipy cg, Jacobi", "seconds": seconds, "max_residual": float(residual.max()), "iterations": max(iterations),
    "peak_bytes": peak,
}))
