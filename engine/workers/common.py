"""A worker of bigfit: one process of many under MPI. Its argument is the folder of a job."""
import json
import os
import socket
import sys
import time
import traceback


def missing(error):
    """Tells that something cannot be imported, and ends."""
    rank = next((int(os.environ[v]) for v in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID") if v in os.environ), 0)
    print("bigfit: " + json.dumps({"event": "missing", "rank": rank, "host": socket.gethostname(), "error": str(error)}), flush=True)
    os._exit(1)


try:
    import numpy
    import petsc4py
except ImportError as error:
    missing(error)

STARTED = time.perf_counter()


class Job:
    """The job in a folder, as one rank sees it."""

    def __init__(self, folder, world):
        self.folder, self.world = folder, world
        self.rank, self.size = world.rank, world.size
        self.log = open(os.path.join(folder, "rank-%d.log" % self.rank), "a", buffering=1)
        self.say("started on %s as process %d" % (socket.gethostname(), os.getpid()))
        with open(os.path.join(folder, "job.json")) as file:
            self.settings = json.load(file)

    def say(self, text):
        """Writes what this rank does: the last line is reported if it dies."""
        self.log.write("%.1f s: %s\n" % (time.perf_counter() - STARTED, text))

    def tell(self, **event):
        """Sends an event to bigfit, from the first rank."""
        if self.rank == 0:
            print("bigfit: " + json.dumps(event), flush=True)

    def load(self, name):
        """Maps an array of the job; None without a file."""
        path = os.path.join(self.folder, name)
        return numpy.load(path, mmap_mode="r") if os.path.exists(path) else None

    def save(self, name, first, own):
        """Writes rows of an array of the job. If they were mapped, hosts would overwrite each other's parts of a page."""
        room = self.load(name)
        with open(os.path.join(self.folder, name), "r+b") as file:
            file.seek(room.offset + first * room.strides[0])
            file.write(own.data)

    def finish(self, version, **result):
        """Collects the largest memory of the ranks and sends the result."""
        from petsc4py import PETSc

        if numpy.dtype(PETSc.IntType).itemsize == 8:
            version += " with 64-bit indices"
        peaks = gather(self.world, peak())
        self.say("done")
        self.tell(event="result", peak_bytes=max(peaks), version=version, **result)


def peak():
    """The largest resident memory of this process, in bytes."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return 0


def gather(world, number):
    """The numbers of all ranks, at each of them."""
    from petsc4py import PETSc

    own = PETSc.Vec().createMPI((1, world.size), comm=world)
    own.setValue(world.rank, number)
    own.assemble()
    scatter, whole = PETSc.Scatter.toAll(own)
    scatter.scatter(own, whole)
    return [float(x) for x in whole.getArray()]


class Rows:
    """The rows of a symmetric matrix, a graph of bigfit in a folder, that belong to one rank."""

    def __init__(self, folder, rank, size):
        def load(name):
            path = os.path.join(folder, name)
            return numpy.load(path, mmap_mode="r") if os.path.exists(path) else None

        self.indptr, self.indices, self.data = load("indptr.npy"), load("indices.npy"), load("data.npy")
        self.n = len(self.indptr) - 1
        # Each rank has about as many entries, a row counting as eight.
        share = (int(self.indptr[-1]) + 8 * self.n) / size
        self.first, self.last = (self.cut(share * r, r, size) for r in (rank, rank + 1))

    def cut(self, load, r, size):
        if r == 0 or r == size:
            return 0 if r == 0 else self.n
        low, high = 0, self.n
        while low < high:
            middle = (low + high) // 2
            if int(self.indptr[middle]) + 8 * middle < load:
                low = middle + 1
            else:
                high = middle
        return low

    def blocks(self, most=1 << 22):
        """Ranges of own rows with about so many entries."""
        at = self.first
        while at < self.last:
            end = int(numpy.searchsorted(self.indptr[at + 1 : self.last + 1], int(self.indptr[at]) + most, side="right")) + at
            end = min(max(end, at + 1), self.last)
            yield at, end
            at = end

    def with_diagonal(self, diagonal, entries, index):
        """The own rows as (offsets, columns, values) with diagonal(i) added to entry (i, i).

        Without diagonal each row has its own. entries(rows, columns, values) gives the other
        values; index is the type of columns.
        """
        count = int(self.indptr[self.last]) - int(self.indptr[self.first])
        room = count + self.last - self.first
        columns, values = numpy.empty(room, index), numpy.empty(room)
        offsets = numpy.zeros(self.last - self.first + 1, numpy.int64)
        to = 0
        for low, high in self.blocks():
            ptr = numpy.asarray(self.indptr[low : high + 1]).astype(numpy.int64)
            col = numpy.asarray(self.indices[ptr[0] : ptr[-1]]).astype(numpy.int64)
            val = numpy.ones(len(col)) if self.data is None else numpy.array(self.data[ptr[0] : ptr[-1]])
            ptr -= ptr[0]
            rows = numpy.repeat(numpy.arange(low, high), numpy.diff(ptr))
            out = entries(rows, col, val)
            loop = numpy.flatnonzero(rows == col)
            if diagonal is None:
                end = to + len(col)
                columns[to:end], values[to:end] = col, out
                offsets[low - self.first + 1 : high - self.first + 1] = to + ptr[1:]
                to = end
                continue
            out[loop] += diagonal(rows[loop])
            missing = numpy.ones(high - low, numpy.int64)
            missing[rows[loop] - low] = 0
            before = numpy.cumsum(missing) - missing
            smaller = numpy.concatenate(([0], numpy.cumsum(col < rows)))
            place = numpy.arange(len(col)) + before[rows - low] + missing[rows - low] * (col > rows)
            end = to + len(col) + int(missing.sum())
            new = numpy.flatnonzero(missing)
            at = ptr[new] + before[new] + smaller[ptr[new + 1]] - smaller[ptr[new]]
            for target, given, made in ((columns[to:end], col, new + low), (values[to:end], out, diagonal(new + low))):
                target[place] = given
                target[at] = made
            offsets[low - self.first + 1 : high - self.first + 1] = to + ptr[1:] + numpy.cumsum(missing)
            to = end
        return offsets.astype(index), columns[:to], values[:to]

    def matrix(self, diagonal, entries, world):
        """The matrix of all ranks."""
        from petsc4py import PETSc

        count = int(self.indptr[self.last]) - int(self.indptr[self.first]) + self.last - self.first
        if max(count, self.n) > numpy.iinfo(PETSc.IntType).max:
            raise OverflowError("this rank has %d entries and PETSc counts them in 32 bits: take more ranks, or install its build with 64 bits (Debian: python3-slepc4py-64-real, python3-petsc4py-64-real)" % count)
        local = (self.last - self.first, self.n)
        return PETSc.Mat().createAIJ(size=(local, local), comm=world, csr=self.with_diagonal(diagonal, entries, PETSc.IntType))


def run(main):
    """Runs main(job). An error is told with its rank and host and ends all ranks."""
    from petsc4py import PETSc

    world = PETSc.COMM_WORLD
    job = Job(sys.argv[1], world)
    try:
        if world.size != job.settings["ranks"]:
            raise RuntimeError("MPI of petsc4py knows %d processes where %d were started: the launcher is that of another MPI, or gives each process its own" % (world.size, job.settings["ranks"]))
        main(job)
    except BaseException as error:
        lines = traceback.format_exc().strip().splitlines()
        job.say("error: " + lines[-1])
        print("bigfit: " + json.dumps({"event": "error", "rank": job.rank, "host": socket.gethostname(),
                                       "error": "%s: %s" % (type(error).__name__, error), "trace": lines[-12:]}),
              file=sys.stderr, flush=True)
        sys.stderr.flush()
        if world.size > 1:
            os._exit(1)  # the others would wait in vain to end together
        sys.exit(1)


