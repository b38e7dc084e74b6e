"""SLEPc under MPI: the k smallest eigenpairs of a graph Laplacian.

Debian: python3-slepc4py python3-petsc4py openmpi-bin python3-numpy python3-scipy
Arguments: W.npz|folder/ k normalized|combinatorial tolerance [options]

The smallest pairs of L are the largest ones of s - L, by Krylov-Schur. SLEPc's tolerance is relative to those,
which are near s: 1 for the normalized Laplacian, and for D - W the largest degree, which is at most the norm.

--deflate makes the call that bigfit eigs --engine slepc makes: null vectors deflated, the smallest pairs of L,
the tolerance one of residuals; and with --filter CUT HIGH DEGREE, which bigfit announces, by the polynomial
filter. --output X.npy writes the vectors and leaves residuals out.
"""
import argparse
import json
import os
import time

import numpy
import scipy.sparse
import slepc4py

arguments = argparse.ArgumentParser()
arguments.add_argument("path")
arguments.add_argument("k", type=int)
arguments.add_argument("kind")
arguments.add_argument("tolerance", type=float)
arguments.add_argument("--deflate", action="store_true")
arguments.add_argument("--filter", nargs=3, type=float, default=None)
arguments.add_argument("--output")
given = arguments.parse_args()
slepc4py.init(["eigs_slepc"])
from petsc4py import PETSc
from slepc4py import SLEPc

k, deflate = given.k, given.deflate or given.filter is not None
if os.path.isdir(given.path):
    indptr, indices = (numpy.load(os.path.join(given.path, name), mmap_mode="r") for name in ("indptr.npy", "indices.npy"))
    data = os.path.join(given.path, "data.npy")
    data = numpy.load(data, mmap_mode="r") if os.path.exists(data) else numpy.ones(len(indices))
    weights = scipy.sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1,) * 2)
else:
    weights = scipy.sparse.load_npz(given.path).tocsr()
degree = numpy.asarray(weights.sum(axis=1)).reshape(-1)
root = numpy.sqrt(degree) if given.kind == "normalized" else numpy.ones(len(degree))
if given.kind == "normalized":
    inverse = numpy.zeros_like(degree)
    inverse[degree > 0] = degree[degree > 0] ** -0.5
    scaling = scipy.sparse.diags(inverse)
    # An isolated point is a null vector: its row of I - A is zero.
    shift, shifted = 1.0, (scaling @ weights @ scaling + scipy.sparse.diags((degree == 0).astype(float))).tocsr()
else:
    shift = degree.max()
    shifted = (weights + scipy.sparse.diags(shift - degree)).tocsr()
if deflate:
    shifted = (scipy.sparse.diags(numpy.full(len(degree), shift)) - shifted).tocsr()
    shift = 0.0

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
known = 0
if deflate:
    known, component = scipy.sparse.csgraph.connected_components(weights, directed=False)
    null = []
    for c in range(min(known, k)):
        null.append(matrix.createVecRight())
        null[-1].setArray(numpy.where(component[first:last] == c, root[first:last], 0))
        null[-1].normalize()
    solver.setDeflationSpace(null)
    solver.setConvergenceTest(SLEPc.EPS.Conv.ABS)
    if given.filter:
        cut, high, degree_of_filter = given.filter
        low = -1e-3 * high
        solver.setWhichEigenpairs(SLEPc.EPS.Which.ALL)
        solver.setInterval(low, cut)
        solver.getST().setType(SLEPc.ST.Type.FILTER)
        options = PETSc.Options()
        options["st_filter_range"] = "%.17g,%.17g" % (low, high)
        options["st_filter_interval"] = "%.17g,%.17g" % (low, cut)
        options["st_filter_degree"] = int(degree_of_filter)
        solver.getST().setFromOptions()
    else:
        solver.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
else:
    solver.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
wanted = k - min(known, k)
solver.setDimensions(wanted)
solver.setTolerances(given.tolerance * (1e-2 if given.filter else 1), 2000)
world.barrier()
start = time.perf_counter()
solver.solve()
world.barrier()
seconds = time.perf_counter() - start

pairs = sorted((((1 if deflate else -1) * solver.getEigenvalue(j).real, j) for j in range(solver.getConverged())))[:wanted]
vector, image = matrix.createVecs()
residual, values = 0.0, []
if given.output:
    if world.rank == 0:
        numpy.lib.format.open_memmap(given.output, "w+", numpy.float64, (n, len(pairs)))
    world.barrier()
    out = numpy.zeros((last - first, len(pairs)))
for to, (_, j) in enumerate(pairs):
    value = solver.getEigenpair(j, vector).real
    values.append(value if deflate else shift - value)
    if given.output:
        out[:, to] = vector.getArray(readonly=True)
        continue
    matrix.mult(vector, image)
    image.axpy(-value, vector)
    residual = max(residual, image.norm() / vector.norm())
if given.output:
    with open(given.output, "r+b") as file:
        file.seek(os.path.getsize(given.output) - 8 * (n - first) * len(pairs))
        file.write(out.data)
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
peaks = PETSc.Vec().createMPI((1, world.size), comm=world)
peaks.setValue(world.rank, peak)
peaks.assemble()
total = peaks.sum()
if world.rank == 0:
    print(json.dumps({
        "peer": "SLEPc " + solver.getType(), "ranks": world.size, "k": k, "converged": min(known, k) + len(pairs), "seconds": seconds,
        "max_residual": residual, "last_value": max(values, default=None), "peak_bytes": total,
    }))
