# Linear systems A X = B with a symmetric, positive (semi)definite matrix, by PETSc: conjugate
# gradients with one algebraic multigrid preconditioner for all columns.
try:
    petsc4py.init(sys.argv[:1])
    from petsc4py import PETSc
except ImportError as error:
    missing(error)


def null_space(job, rows):
    """The null vectors of the matrix, one a component: columns of a sparse matrix with an entry a row. None if there are none."""
    of = job.load("components.npy")
    if of is None:
        return None
    count = rows.last - rows.first
    own = (numpy.arange(count + 1, dtype=PETSc.IntType), of[rows.first : rows.last].astype(PETSc.IntType), numpy.array(job.load("null.npy")[rows.first : rows.last]))
    basis = PETSc.Mat().createAIJ(size=((count, rows.n), (None, job.settings["nullity"])), comm=job.world, csr=own)
    share, along = basis.createVecs()

    def remove(_, x):
        basis.multTranspose(x, share)
        basis.mult(share, along)
        x.axpy(-1, along)

    null = PETSc.NullSpace().create(comm=job.world)
    null.setFunction(remove)
    return null


def solver(job, matrix, singular):
    s = job.settings
    ksp = PETSc.KSP().create(job.world)
    ksp.setOperators(matrix)
    ksp.setType(PETSc.KSP.Type.CG)
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setTolerances(rtol=0, atol=s["tolerance"], max_it=s["iterations"])
    pc = ksp.getPC()
    pc.setType(PETSc.PC.Type.HYPRE)
    pc.setHYPREType("boomeramg")
    options = PETSc.Options()
    options["pc_hypre_boomeramg_strong_threshold"] = 0.25
    # Sparse coarse levels: those of neighbours in many dimensions would be nearly full.
    options["pc_hypre_boomeramg_coarsen_type"] = "PMIS"
    options["pc_hypre_boomeramg_interp_type"] = "ext+i"
    options["pc_hypre_boomeramg_P_max"] = 4
    if singular:
        options["pc_hypre_boomeramg_relax_type_coarse"] = "l1scaled-Jacobi"
    ksp.setFromOptions()
    ksp.setUp()
    return ksp


def main(job):
    s = job.settings
    job.say("reading rows")
    rows = Rows(s["graph"], job.rank, job.size)
    job.say("rows %d to %d" % (rows.first, rows.last))
    matrix = rows.matrix(None, lambda i, j, a: a, job.world)
    matrix.setOption(PETSc.Mat.Option.SPD if job.load("components.npy") is None else PETSc.Mat.Option.SYMMETRIC, True)
    null = null_space(job, rows)
    if null is not None:
        matrix.setNullSpace(null)
    job.say("building the preconditioner")
    ksp = solver(job, matrix, null is not None)
    built = time.perf_counter()
    given = job.load("B.npy")
    own = numpy.zeros((rows.last - rows.first, given.shape[1]))
    x, b = matrix.createVecs()
    most = 0
    for j in range(given.shape[1]):
        b.setArray(given[rows.first : rows.last, j])
        x.set(0)
        ksp.solve(b, x)
        most = max(most, ksp.getIterationNumber())
        own[:, j] = x.getArray(readonly=True)
        job.say("column %d of %d: %d iterations" % (j + 1, given.shape[1], ksp.getIterationNumber()))
        job.tell(event="progress", iteration=ksp.getIterationNumber(), converged=j + 1, wanted=given.shape[1])
    solved = time.perf_counter()
    job.save("X.npy", rows.first, own)
    job.world.barrier()
    job.finish(iterations=most, version="PETSc %d.%d.%d" % PETSc.Sys.getVersion(), read_seconds=built - STARTED, solve_seconds=solved - built)


run(main)
