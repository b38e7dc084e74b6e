"""SLEPc's Krylov-Schur, under MPI: the k smallest eigenpairs of a graph Laplacian.

Debian: python3-slepc4py python3-petsc4py openmpi-bin python3-numpy python3-scipy
Arguments: W.npz k normalized|combinatorial tolerance

The smallest pairs of L are the largest ones of s - L. SLEPc's tolerance is relative to those, which are
near s: 1 for the normalized Laplacian, and for D - W the largest degree, which is at most the norm.
"""
import json
import sys
import time

import numpy
import scipy.sparse
import slepc4py

path, k, kind, tolerance = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
slepc4py.init(sys.argv[:1])
from petsc4py import PETSc
from slepc4py import SLEPc

weights = scipy.sparse.load_npz(path).tocsr()
degree = numpy.asarray(weights.sum(axis=1)).reshape(-1)
if kind == "normalized":
    root = numpy.zeros_like(degree)
    root[degree > 0] = degree[degree > 0] ** -0.5
    scaling = scipy.sparse.diags(root)
    # An isolated point is a null vector: its row of I - A is zero.
    shift, shifted = 1.0, (scaling @ weights @ scaling + scipy.sparse.diags((degree == 0).astype(float))).tocsr()
else:
    shift = degree.max()
    shifted = (weights + scipy.sparse.diags(shift - degree)).tocsr()

world = PETSc.COMM_WORLD
n = len(degree)
first, last = world.rank * n // world.size, (world.rank + 1) * n // world.size
own = shifted[first:last]
own.sort_indices()
local = (last - first, n)
matrix = PETSc.Mat().createAIJ(
    size=(local, local), comm=world,
    csr=(own.indptr.astype(PETSc.IntType), own.indices.astype(PETSc.IntType), own.data.astype(PETSc.ScalarType)))
matrix.assemble()

solver = SLEPc.EPS().create(world)
solver.setOperators(matrix)
solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
solver.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
solver.setDimensions(k)
solver.setTolerances(tolerance, 2000)
world.barrier()
start = time.perf_counter()
solver.solve()
world.barrier()
seconds = time.perf_counter() - start

found = min(k, solver.getConverged())
vector, image = matrix.createVecs()
residual, values = 0.0, []
for j in range(found):
    value = solver.getEigenpair(j, vector).real
    matrix.mult(vector, image)
    image.axpy(-value, vector)
    residual = max(residual, image.norm() / vector.norm())
    values.append(shift - value)
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
peaks = PETSc.Vec().createMPI((1, world.size), comm=world)
peaks.setValue(world.rank, peak)
peaks.assemble()
total = peaks.sum()
if world.rank == 0:
    print(json.dumps({
        "peer": "SLEPc " + solver.getType(), "ranks": world.size, "k": k, "converged": found, "seconds": seconds,
        "max_residual": residual, "last_value": max(values, default=None), "peak_bytes": total,
    }))
