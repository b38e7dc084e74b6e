"""Dense linear algebra by NumPy and SciPy on OpenBLAS.

Debian: python3-numpy python3-scipy libopenblas0-pthread
Arguments: gemm32|gemm64|syrk|eigen m k n threads, or pca X.npz components threads
Prints one JSON line with the best of as many runs as fit in a second, two at least.
"""
import json
import os
import sys
import time

kind, threads = sys.argv[1], sys.argv[-1]
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # read when the library is loaded
    os.environ[variable] = threads

import numpy
import scipy.linalg

if kind == "pca":
    with numpy.load(sys.argv[2]) as archive:
        pixels = archive["X"]
    components = int(sys.argv[3])

    def run():
        x = pixels.astype(numpy.float32)
        x -= x.mean(axis=0)
        _, vectors = numpy.linalg.eigh(x.T @ x / len(x))
        return x @ vectors[:, :-components - 1:-1]
else:
    m, k, n = (int(a) for a in sys.argv[2:5])
    random = numpy.random.default_rng(1)
    a = random.standard_normal((m, k))
    if kind == "eigen":
        a += a.T

        def run():
            return scipy.linalg.eigh(a, driver="evd")
    elif kind == "syrk":
        c = numpy.empty((k, k))

        def run():
            numpy.matmul(a.T, a, out=c)  # recognized as a rank-k update
    else:
        dtype = numpy.float32 if kind == "gemm32" else numpy.float64
        a = a.astype(dtype)
        b = random.standard_normal((k, n)).astype(dtype)
        c = numpy.empty((m, n), dtype)

        def run():
            numpy.matmul(a, b, out=c)

with open("/proc/self/maps") as maps:
    libraries = {os.path.basename(line.split()[-1]) for line in maps if "libopenblas" in line}
if not libraries:
    sys.exit("NumPy does not run on OpenBLAS here; install libopenblas0-pthread")

best, total, runs = float("inf"), 0.0, 0
while runs < 2 or total < 1:
    start = time.perf_counter()
    run()
    took = time.perf_counter() - start
    best, total, runs = min(best, took), total + took, runs + 1
line = {"peer": "NumPy, OpenBLAS", "seconds": best, "library": " ".join(sorted(libraries))}
print(json.dumps(line))
