"""Exact LapRLS by NumPy and SciPy on OpenBLAS: (J K + gamma_A l I + gamma_I l L K) alpha = J Y.

The matrix is not symmetric. The symmetric form K (J + gamma_I l L) K + gamma_A l K takes one product of n-by-n matrices
more, 2n^3 operations, than Cholesky factorization saves, n^3/3, and squares the condition number.

Debian: python3-numpy python3-scipy libopenblas0-pthread.  Argument: the folder of a task of bench/kernel
"""
import json
import os
import sys

folder = sys.argv[1]
with open(os.path.join(folder, "task.json")) as file:
    task = json.load(file)
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # read when the library is loaded
    os.environ[variable] = str(task["threads"])

import time

import numpy
import scipy.linalg
import scipy.sparse

with open("/proc/self/maps") as maps:
    if not any("libopenblas" in line for line in maps):
        sys.exit("NumPy does not run on OpenBLAS here; install libopenblas0-pthread")
x = numpy.load(os.path.join(folder, "X.npy"))
y = numpy.load(os.path.join(folder, "Y.npy"))
labeled = numpy.load(os.path.join(folder, "labeled.npy"))
weights = scipy.sparse.load_npz(os.path.join(folder, "W.npz")).tocsr().astype(float)
n, l = len(x), len(labeled)
scale = scipy.sparse.diags(1 / numpy.sqrt(numpy.asarray(weights.sum(axis=1)).ravel()))
laplacian = (scipy.sparse.identity(n) - scale @ weights @ scale).tocsr()


def solve():
    centred = x - x.mean(axis=0)
    squares = numpy.einsum("ij,ij->i", centred, centred)
    kernel = centred @ centred.T  # recognized as a rank-k update
    kernel *= -2
    kernel += squares[:, None]
    kernel += squares
    numpy.maximum(kernel, 0, out=kernel)
    kernel *= -1 / (2 * task["sigma"] ** 2)
    numpy.exp(kernel, out=kernel)
    system = (task["gamma_i"] * l * laplacian) @ kernel
    system[labeled] += kernel[labeled]
    system[numpy.diag_indices(n)] += task["gamma_a"] * l
    right = numpy.zeros((n, y.shape[1]))
    right[labeled] = y
    # The transpose is in LAPACK's order: no copy.
    factors = scipy.linalg.lu_factor(system.T, overwrite_a=True, check_finite=False)
    return kernel, scipy.linalg.lu_solve(factors, right, trans=1, overwrite_b=True, check_finite=False)


start, cpu = time.perf_counter(), time.process_time()
kernel, alpha = solve()
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
numpy.save(os.path.join(folder, "NumPy,-OpenBLAS.npy"), kernel @ alpha)
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({"peer": "NumPy, OpenBLAS", "seconds": seconds, "cpu_seconds": cpu, "peak_bytes": peak}))
