"""Runs the bigfit program on arrays: writes inputs, runs, reads outputs, maps errors.

A :class:`Call` is one run. Arrays go to files in a folder that only this call uses, in
shared memory where there is room, and the folder goes away when the call ends, however
it ends. An array that is a whole .npy file, mapped into memory, is not copied: the
program gets the path of the file.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from . import _binary
from ._binary import EngineError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

#: Names of parameters that are not the flag's with _ for -: those that scikit-learn has
#: one established name for.
NAMES = {"neighbors": "n_neighbors", "distance": "metric", "dimensions": "n_components", "clusters": "n_clusters"}
FLAGS = {name: flag for flag, name in NAMES.items()}
#: Flags of the run, which are parameters of every estimator.
COMMON = {"threads": "n_jobs", "seed": "random_state", "memory-limit": "memory_limit", "unlabeled": "y"}

# Exit codes of the program.
FAILURE, BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 130

# Seconds that the program has to stop after it was asked to.
GRACE = 3
# Bytes that must be free in shared memory beside those of the inputs, of which outputs
# may take as much again twice.
SPARE = 32 << 20
PREFIX = "bigfit-call-"
# Seconds before a folder that nobody holds counts as left over: between making a folder
# and locking it there is a moment.
YOUNG = 60


class Call:
    """One run of the program.

    Parameters
    ----------
    command : str
        Name of the command, as ``"fit"``.
    n_jobs : int, default=None
        Threads; None and -1 stand for all, -2 for all but one.
    random_state : int, RandomState or None
        Seed; None is the program's own, so that results repeat.
    memory_limit : str or int, default=None
        Memory that the run may use, as ``"8GiB"`` or in bytes.
    verbose : int, default=0
        1 prints the stages of the run on stderr, 2 their progress too.

    Examples
    --------
    >>> with Call("neighbors") as call:              # doctest: +SKIP
    ...     call.input("-X", "X", points)
    ...     call.output("-o", "knn.npz")
    ...     summary = call.run()
    ...     lists = call.read("knn.npz")
    """

    def __init__(self, command, *, n_jobs=None, random_state=None, memory_limit=None, verbose=0):
        self.command = command
        self.verbose = int(verbose)
        self._arguments = []
        self._writers = []  # (path or None, function, bytes)
        self._files = {}  # names in messages, by the name of the file
        self._folder = None
        threads = _threads(n_jobs)
        if threads is not None:
            self.flag("threads", threads)
        if random_state is not None:
            self.flag("seed", _seed(random_state))
        if memory_limit is not None:
            self.flag("memory-limit", memory_limit)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def flag(self, name, value):
        """Give a flag; a value of True stands for a flag alone, several for a list."""
        self._arguments.append(lambda _: [f"--{name}={_text(value)}"])

    def input(self, flag, name, value):
        """Give an array, a dict of arrays, a sparse matrix, or the bytes of a .npz file.

        Parameters
        ----------
        flag : str
            Flag of the file, as ``"-X"``, or "" for an argument.
        name : str
            What messages call it.
        value : ndarray, dict, sparse matrix or bytes
        """
        mapped = mapped_file(value)
        if mapped is not None:
            self._arguments.append(lambda _: [flag, mapped] if flag else [mapped])
            return
        file, size, write = _writer(name, value)
        self._files[file] = name
        self._writers.append((file, size, write))
        self._give(flag, file)

    def output(self, flag, file):
        """Let the program write a file, which :meth:`read` or :meth:`bytes` returns."""
        self._give(flag, file)

    def _give(self, flag, file):
        def words(folder):
            path = str(folder / file)
            return [flag, path] if flag else [path]

        self._arguments.append(words)

    @property
    def folder(self):
        """The folder of the call's files."""
        if self._folder is None:
            self._folder = _Folder(sum(size for _, size, _ in self._writers))
        return self._folder.path

    def run(self):
        """Write the inputs, run the program and return its summary.

        Returns
        -------
        summary : dict
            What the command prints with ``--json``.

        Raises
        ------
        ValueError
            If the program refuses input or parameters; the message is its own.
        MemoryError
            If the run would need more memory than it may have; nothing was done then.
        EngineError
            If the program fails, is stopped by others, or is not there.

        Warns
        -----
        ConvergenceWarning
            If a solver stopped before its tolerance; results are usable.
        """
        program = _binary.find()
        folder = self.folder
        for file, _, write in self._writers:
            write(folder / file)
        words = [program, self.command, "--json", "--progress=json"]
        for give in self._arguments:
            words += give(folder)
        code, said, errors = self._spawn(words, folder / "summary.json")
        if code not in (0, NOT_CONVERGED):
            raise self._error(code, errors)
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        if code == NOT_CONVERGED:
            warn(self._plain(_message(errors)), ConvergenceWarning)
        for text in said:
            warn(self._plain(text))
        return summary

    def _spawn(self, words, stdout):
        """Run to the end and return the exit code, warnings and errors."""
        said, errors = [], []
        with open(stdout, "wb") as out:
            environment = {**_binary.environment(), "BIGFIT_PARENT": str(os.getpid())}  # the program stops with this process
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=environment)
        try:
            with process.stderr as lines:
                for line in lines:
                    self._event(line.decode("utf-8", "replace").rstrip("\r\n"), said, errors)
            return process.wait(), said, errors
        except BaseException:
            _stop(process)
            raise

    def _event(self, line, said, errors):
        """Take a line of stderr."""
        try:
            event = json.loads(line)
            kind, note = event["event"], event.get("note", "")
        except (ValueError, TypeError, KeyError):
            errors.append(("", line))  # the last words of a program that dies
            return
        if kind == "error":
            errors.append((event.get("kind", ""), note))
        elif kind == "note" and note.startswith("warning: "):
            said.append(note[len("warning: "):])
        if self.verbose >= 1 and kind in ("end", "note") or self.verbose >= 2 and kind == "update":
            print(self._plain(_progress(event)), file=sys.stderr, flush=True)

    def _error(self, code, errors):
        """Return the exception for an exit code and the errors that were said."""
        text = self._plain(_message(errors))
        if any(kind == "memory" for kind, _ in errors) or code == FAILURE and text.startswith("out of memory"):
            return MemoryError(text)
        if code == BAD_INPUT:
            return ValueError(text)
        if code < 0:
            text = f"bigfit was killed by signal {-code}" + (", perhaps as the machine ran out of memory" if code == -9 else "")
        elif code == INTERRUPTED:
            text = "bigfit was interrupted"
        return EngineError(text or f"bigfit ended with exit code {code}")

    def _plain(self, text):
        """Say a message of the program in names of Python: arrays for files, parameters for flags."""
        if self._folder is not None:
            text = text.replace(str(self._folder.path) + os.sep, "")
        for file, name in self._files.items():
            text = re.sub(rf"(?<![\w./]){re.escape(file)}\b", name, text)
        text = re.sub(r"(?<=is )[+-]Inf\b", lambda m: m.group().lower().lstrip("+"), text)
        text = re.sub(r"(?<![\w-])-([Xy])\b", r"\1", text)
        return re.sub(r"(?<![\w-])--([a-z][a-z-]*[a-z]|t)\b", lambda m: parameter(m.group(1)), text)

    def read(self, file):
        """Return the array in a .npy file, or the arrays of a .npz file as a dict."""
        with np.load(self.folder / file, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}

    def array(self, file):
        """Return the array in a .npy file."""
        return np.load(self.folder / file, allow_pickle=False)

    def bytes(self, file):
        """Return the bytes of a file."""
        return (self.folder / file).read_bytes()


def warn(text, category=UserWarning):
    """Warn as from the line that called the package."""
    here, level, frame = os.path.dirname(__file__), 1, sys._getframe()
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == here:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def parameter(flag):
    """Return the name of the parameter that a flag has in Python."""
    return NAMES.get(flag) or COMMON.get(flag) or flag.replace("-", "_")


def flag_of(name):
    """Return the flag of a parameter."""
    return FLAGS.get(name) or name.replace("_", "-")


def _message(errors):
    text = "\n".join(note.removeprefix("bigfit: ") for _, note in errors)
    return re.sub(r"\nsee bigfit .*--help$", "", text)


def _progress(event):
    """Return an event of the program as a line."""
    if event["event"] == "note":
        return event.get("note", "")
    done = ""
    if event["event"] == "update" and event.get("total"):
        done = f"{100 * event.get('done', 0) / event['total']:.0f} %  "
    return f"{event.get('stage', ''):<12} {event.get('seconds', 0):5.1f} s  {done}{event.get('note', '')}"


def _threads(n_jobs):
    """Return the threads for a number of jobs in the convention of joblib; None and -1 are all."""
    if n_jobs is None:
        return None
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; it must be positive, or negative to count from all processors, as -1")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def _seed(random_state):
    """Return a seed of the program."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _text(value):
    """Return a value as flags have it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if np.ndim(value) > 0:
        return ",".join(_text(v) for v in np.asarray(value).tolist())
    return str(value)


def mapped_file(value):
    """Return the path of the .npy file that an array is the whole of, or None.

    Parameters
    ----------
    value : object
        An ``np.memmap``, or an array that views one wholly. Views of parts, arrays in
        the order of Fortran, and maps that are private to this process (mode "c") are
        no files.

    Returns
    -------
    path : str or None
    """
    if not isinstance(value, np.ndarray) or not value.flags.c_contiguous:
        return None
    held = value
    while held is not None and not isinstance(held, np.memmap):
        held = getattr(held, "base", None)
    if held is None or held.filename is None or held.mode not in ("r", "r+", "w+") or Path(held.filename).suffix != ".npy":
        return None
    while isinstance(held.base, np.memmap):
        held = held.base
    try:
        with open(held.filename, "rb") as f:
            version = np.lib.format.read_magic(f)
            shape, fortran, dtype = (
                np.lib.format.read_array_header_1_0(f) if version == (1, 0) else np.lib.format.read_array_header_2_0(f)
            )
            begin = f.tell()
    except (OSError, ValueError):
        return None
    same = value.shape == shape and value.dtype == dtype and not fortran and held.offset == begin and _address(value) == _address(held)
    return os.path.abspath(held.filename) if same else None


def _address(array):
    return array.__array_interface__["data"][0]


def _writer(name, value):
    """Return the file for a value, about its bytes, and the function that writes it."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return name + ".npz", len(value), lambda path: path.write_bytes(value)
    if isinstance(value, dict):
        return name + ".npz", sum(v.nbytes for v in value.values()), lambda path: np.savez(path, **value)
    if sparse.issparse(value):
        value = value.tocsr()
        size = value.data.nbytes + value.indices.nbytes + value.indptr.nbytes
        return name + ".npz", size, lambda path: sparse.save_npz(path, value, compressed=False)
    value = np.ascontiguousarray(value)
    return name + ".npy", value.nbytes, lambda path: np.save(path, value, allow_pickle=False)


def _stop(process):
    """Stop the program and wait until it is gone."""
    try:
        process.terminate()
        process.wait(GRACE)
    except BaseException:  # it takes too long, or a second interrupt came
        process.kill()
        process.wait()


class _Folder:
    """A folder for the files of one call. What a killed process left is removed by later ones."""

    def __init__(self, size):
        base = _base(size)
        _sweep(base)
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=base))
        self._lock = None
        if fcntl is not None:
            self._lock = os.open(self.path, os.O_RDONLY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self):
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _base(size):
    """Return the folder for temporary folders: shared memory where there is room."""
    shared = "/dev/shm"
    try:
        room = os.statvfs(shared)
        if room.f_bavail * room.f_frsize > 3 * size + SPARE and os.access(shared, os.W_OK | os.X_OK):
            return shared
    except (OSError, AttributeError):
        pass
    return tempfile.gettempdir()


_swept = set()


def _sweep(base):
    """Remove, once a process, the folders of processes that were killed: nobody holds their lock."""
    if fcntl is None or base in _swept:
        return
    _swept.add(base)
    with os.scandir(base) as entries:
        folders = [e.path for e in entries if e.name.startswith(PREFIX)]
    for path in folders:
        try:
            state = os.lstat(path)
            if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or time.time() - state.st_mtime < YOUNG:
                continue
            lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except OSError:
            pass  # in use
        finally:
            os.close(lock)
