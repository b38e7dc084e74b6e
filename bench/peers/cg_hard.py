"""One right-hand side of a Laplacian by another program: PETSc's conjugate gradients with hypre's BoomerAMG or GAMG, on the
ranks that it is started on, or SciPy's splu.

Debian: python3-numpy python3-scipy python3-petsc4py openmpi-bin.  Arguments: W.npz tolerance hypre|gamg|splu iterations
"""
import json
import sys
import time

import numpy
import scipy.sparse
import scipy.sparse.linalg

path, tolerance, method, most = sys.argv[1], float(sys.argv[2]), sys.argv[3], int(sys.argv[4])
weights = scipy.sparse.load_npz(path).tocsr()
size = weights.shape[0]
matrix = (scipy.sparse.diags(numpy.asarray(weights.sum(axis=1)).reshape(-1)) - weights).tocsr()
right = numpy.random.default_rng(0).standard_normal(size)
right -= right.mean()

if method == "splu":
    start = time.perf_counter()
    # The last vertex is grounded.
    factor = scipy.sparse.linalg.splu(matrix[:-1, :-1].tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                                      options={"SymmetricMode": True})
    solution = numpy.append(factor.solve(right[:-1]), 0)
    seconds, iterations, name, ranks = time.perf_counter() - start, 0, "scipy splu", 1
else:
    import petsc4py
    petsc4py.init([])
    from petsc4py import PETSc
    world = PETSc.COMM_WORLD
    ranks = world.size
    first, last = world.rank * size // ranks, (world.rank + 1) * size // ranks
    own = matrix[first:last]
    local = (last - first, size)
    a = PETSc.Mat().createAIJ(size=(local, local), comm=world, csr=(own.indptr, own.indices, own.data))
    null = PETSc.NullSpace().create(constant=True, comm=world)
    a.setNullSpace(null)
    a.setNearNullSpace(null)
    b, x = a.createVecs()
    b.setArray(right[first:last])
    world.barrier()
    start = time.perf_counter()
    solver = PETSc.KSP().create(world)
    solver.setOperators(a)
    solver.setType("cg")
    solver.getPC().setType(method)
    solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    solver.setTolerances(rtol=tolerance, max_it=most)
    solver.setUp()
    solver.solve(b, x)
    world.barrier()
    seconds, iterations = time.perf_counter() - start, solver.getIterationNumber()
    # Rank 0 gets the whole solution.
    scatter, whole = PETSc.Scatter.toZero(x)
    scatter.scatter(x, whole)
    if world.rank > 0:
        sys.exit()
    solution = whole.getArray()
    name = "PETSc cg, " + {"hypre": "BoomerAMG", "gamg": "GAMG"}[method] + ("" if ranks == 1 else f", {ranks} ranks")

residual = numpy.linalg.norm(right - matrix @ solution) / numpy.linalg.norm(right)
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({"peer": name, "seconds": seconds, "max_residual": float(residual), "iterations": iterations,
                  "ranks": ranks, "peak_bytes": peak}))
