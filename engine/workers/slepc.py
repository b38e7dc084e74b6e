# The smallest eigenpairs of a graph Laplacian behind its null vectors, by SLEPc.
try:
    import slepc4py

    slepc4py.init(sys.argv[:1])
    from petsc4py import PETSc
    from slepc4py import SLEPc
except ImportError as error:
    missing(error)


def laplacian(job, rows):
    """L = D − W, or with each entry divided by the root of both degrees."""
    degree = job.load("degrees.npy")  # mapped: only what is needed is read
    if job.settings["laplacian"] == "combinatorial":
        return rows.matrix(lambda i: degree[i], lambda i, j, w: -w, job.world)

    def scaled(i, j, w):
        w = w.copy()
        for end in numpy.minimum(i, j), numpy.maximum(i, j):
            root = numpy.sqrt(degree[end])
            numpy.divide(w, root, out=w, where=root > 0)
        return -w

    return rows.matrix(lambda i: (degree[i] > 0).astype(float), scaled, job.world)


def null_vectors(job, rows, like):
    """One vector a component, the first ones: they span the null space."""
    of = numpy.asarray(job.load("components.npy")[rows.first : rows.last])
    weight = numpy.ones(len(of))
    if job.settings["laplacian"] != "combinatorial":
        degree = job.load("degrees.npy")[rows.first : rows.last]
        numpy.sqrt(degree, out=weight, where=degree > 0)
    out = []
    for component in range(job.settings["nullity"]):
        vector = like.duplicate()
        vector.setArray(numpy.where(of == component, weight, 0))
        vector.normalize()
        out.append(vector)
    return out


def solver(job, matrix, null):
    s = job.settings
    eps = SLEPc.EPS().create(job.world)
    eps.setOperators(matrix)
    eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
    if null:
        eps.setDeflationSpace(null)
    if s["method"] == "filter":
        # All eigenvalues up to the cut, by a polynomial that is large there.
        eps.setWhichEigenpairs(SLEPc.EPS.Which.ALL)
        eps.setInterval(-s["norm"] * 1e-3, s["cut"])
        transform = eps.getST()
        transform.setType(SLEPc.ST.Type.FILTER)
        options = PETSc.Options()
        options["st_filter_range"] = "%.17g,%.17g" % (-s["norm"] * 1e-3, s["high"])
        options["st_filter_interval"] = "%.17g,%.17g" % (-s["norm"] * 1e-3, s["cut"])
        if s["degree"]:
            options["st_filter_degree"] = s["degree"]
        transform.setFromOptions()
        eps.setDimensions(s["wanted"], PETSc.DECIDE, PETSc.DECIDE)
    else:
        eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
        eps.setDimensions(s["wanted"])
    eps.setConvergenceTest(SLEPc.EPS.Conv.ABS)
    # The residual that is tested is of the polynomial: that of L can be larger.
    eps.setTolerances(s["tolerance"] * (1e-2 if s["method"] == "filter" else 1), s["restarts"])

    def monitor(eps, iteration, converged, values, errors):
        job.say("iteration %d, %d of %d pairs" % (iteration, converged, s["wanted"]))
        job.tell(event="progress", iteration=iteration, converged=converged, wanted=s["wanted"])

    eps.setMonitor(monitor)
    return eps


def smallest(eps, wanted):
    """The numbers of the smallest pairs that were found, and their values."""
    values = [eps.getEigenvalue(j).real for j in range(eps.getConverged())]
    order = sorted(range(len(values)), key=lambda j: values[j])[:wanted]
    return order, [values[j] for j in order]


def main(job):
    s = job.settings
    job.say("reading rows")
    rows = Rows(s["graph"], job.rank, job.size)
    job.say("rows %d to %d" % (rows.first, rows.last))
    matrix = laplacian(job, rows)
    vector = matrix.createVecRight()
    eps = solver(job, matrix, null_vectors(job, rows, vector))
    built = time.perf_counter()
    job.tell(event="begun")
    eps.solve()
    solved = time.perf_counter()
    order, values = smallest(eps, s["wanted"])
    job.say("writing %d vectors" % len(order))
    own = numpy.zeros((rows.last - rows.first, s["wanted"]))
    for to, j in enumerate(order):
        eps.getEigenvector(j, vector)
        own[:, to] = vector.getArray(readonly=True)
    job.save("vectors.npy", rows.first, own)
    job.world.barrier()
    job.finish(values=values, iterations=eps.getIterationNumber(), version="SLEPc %d.%d.%d" % SLEPc.Sys.getVersion(),
               read_seconds=built - STARTED, solve_seconds=solved - built, write_seconds=time.perf_counter() - solved)


run(main)
