"""Runs the bigfit program on arrays: writes inputs, runs, reads outputs, maps errors.

A :class:`Call` is one run. Arrays go to files in a folder that only this call uses, in
shared memory where there is room, and the folder goes away when the call ends, however
it ends. An array that is a whole .npy file, mapped into memory, is not copied: the
program gets the path of the file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Optional, Union

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from . import _binary
from ._binary import EngineError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Array = NDArray[Any]
Write = Callable[[Path], object]

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

    def __init__(self, command: str, *, n_jobs: Optional[int] = None, random_state: Any = None,
                 memory_limit: Union[str, int, None] = None, verbose: int = 0) -> None:
        self.command = command
        self.verbose = int(verbose)
        self._arguments: list[Callable[[Path], list[str]]] = []
        self._writers: list[tuple[str, int, Write]] = []  # name of the file, bytes, function that writes it
        self._files: dict[str, str] = {}  # names in messages, by the name of the file
        self._folder: Optional[_Folder] = None
        threads = _threads(n_jobs)
        if threads is not None:
            self.flag("threads", threads)
        if random_state is not None:
            self.flag("seed", _seed(random_state))
        if memory_limit is not None:
            self.flag("memory-limit", memory_limit)

    def __enter__(self) -> Call:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def flag(self, name: str, value: Any) -> None:
        """Give a flag; a value of True stands for a flag alone, several for a list."""
        self._arguments.append(lambda _: [f"--{name}={_text(value)}"])

    def input(self, flag: str, name: str, value: Any) -> None:
        """Give an array, a dict of arrays, a sparse matrix, files, or the bytes of a .npz file.

        Parameters
        ----------
        flag : str
            Flag of the file, as ``"-X"``, or "" for an argument.
        name : str
            What messages call it.
        value : ndarray, dict, sparse matrix, Files or bytes
        """
        if isinstance(value, Files):
            value.check()
            for path in value.paths:
                self.file(flag, path)
            return
        mapped = mapped_file(value)
        if mapped is not None:
            self.file(flag, mapped)
            return
        file, size, write = _writer(name, value)
        self._files[file] = name
        self._writers.append((file, size, write))
        self._give(flag, file)

    def file(self, flag: str, path: Union[str, os.PathLike[str]]) -> None:
        """Give the path of a file of the caller's, to read or to write."""
        words = [os.path.abspath(path)]
        self._arguments.append(lambda _: [flag, *words] if flag else words)

    def column(self, flag: str, name: str, texts: list[str]) -> None:
        """Give texts as the column of a table, by a flag that takes FILE:COLUMN."""
        file = f"column{len(self._writers)}.jsonl"
        rows = "".join(json.dumps({name: text}) + "\n" for text in texts)
        self._files[file] = name
        self._writers.append((file, len(rows), lambda path: path.write_text(rows, encoding="utf-8")))
        self._arguments.append(lambda folder: [f"--{flag}={folder / file}:{name}"])

    def output(self, flag: str, file: str) -> None:
        """Let the program write a file, which :meth:`read` or :meth:`bytes` returns."""
        self._give(flag, file)

    def _give(self, flag: str, file: str) -> None:
        def words(folder: Path) -> list[str]:
            path = str(folder / file)
            return [flag, path] if flag else [path]

        self._arguments.append(words)

    @property
    def folder(self) -> Path:
        """The folder of the call's files."""
        if self._folder is None:
            self._folder = _Folder(sum(size for _, size, _ in self._writers))
        return self._folder.path

    def run(self) -> dict[str, Any]:
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
        words = self._words()
        folder = self.folder
        code, said, errors = self._spawn(words, folder / "summary.json")
        if code not in (0, NOT_CONVERGED):
            raise self._error(code, errors)
        summary: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        if code == NOT_CONVERGED:
            warn(self._plain(_message(errors)), ConvergenceWarning)
        for text in said:
            warn(self._plain(text))
        return summary

    def _words(self) -> list[str]:
        """Write the inputs and return the command line."""
        program = _binary.find()
        folder = self.folder
        for file, _, write in self._writers:
            write(folder / file)
        words = [program, self.command, "--json", "--progress=json"]
        for give in self._arguments:
            words += give(folder)
        return words

    def _spawn(self, words: list[str], stdout: Path) -> tuple[int, list[str], list[tuple[str, str]]]:
        """Run to the end and return the exit code, warnings and errors."""
        said: list[str] = []
        errors: list[tuple[str, str]] = []
        with open(stdout, "wb") as out:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=_environment())
        try:
            assert process.stderr is not None
            with process.stderr as lines:
                for line in lines:
                    self._event(line.decode("utf-8", "replace").rstrip("\r\n"), said, errors)
            return process.wait(), said, errors
        except BaseException:
            _stop(process)
            raise

    def _event(self, line: str, said: list[str], errors: list[tuple[str, str]]) -> None:
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
        if kind == "note":
            self._noted(note)
        if self.verbose >= 1 and kind in ("end", "note") or self.verbose >= 2 and kind == "update":
            print(self._plain(_progress(event)), file=sys.stderr, flush=True)

    def _noted(self, note: str) -> None:
        """Take a note of the program; a call that waits for one has its own."""

    def _error(self, code: int, errors: list[tuple[str, str]]) -> Exception:
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

    def _plain(self, text: str) -> str:
        """Say a message of the program in names of Python: arrays for files, parameters for flags."""
        if self._folder is not None:
            text = text.replace(str(self._folder.path) + os.sep, "")
        for file, name in self._files.items():
            text = re.sub(rf"(?<![\w./]){re.escape(file)}\b", name, text)
        text = re.sub(r"(?<=is )[+-]Inf\b", lambda m: m.group().lower().lstrip("+"), text)
        text = re.sub(r"(?<![\w-])-([Xy])\b", r"\1", text)
        return re.sub(r"(?<![\w-])--([a-z][a-z-]*[a-z]|t)\b", lambda m: parameter(m.group(1)), text)

    def read(self, file: str) -> dict[str, Array]:
        """Return the array in a .npy file, or the arrays of a .npz file as a dict."""
        with np.load(self.folder / file, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}

    def array(self, file: str) -> Array:
        """Return the array in a .npy file."""
        found: Array = np.load(self.folder / file, allow_pickle=False)
        return found

    def bytes(self, file: str) -> bytes:
        """Return the bytes of a file."""
        return (self.folder / file).read_bytes()


class Served:
    """A run of the program that stays and answers: a line with names of files each on stdin and stdout.

    Parameters
    ----------
    call : Call
        The run, whose folder this object removes when it ends.
    """

    def __init__(self, call: Call) -> None:
        words = call._words()
        self._call = call
        self._lock = threading.Lock()
        self._asked = 0
        with open(call.folder / "errors.txt", "wb") as errors:
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=_environment())
        self._end = weakref.finalize(self, _hang_up, self._process, call)
        #: What the program says when it is ready.
        self.summary: dict[str, Any] = self._answer()

    def ask(self, array: Array) -> tuple[Array, dict[str, Any]]:
        """Return the array that answers an array, and what the program says of it."""
        with self._lock:
            if not self._end.alive:
                raise ValueError("it was closed")
            self._asked += 1
            question = self._call.folder / f"B{self._asked}.npy"
            answer = self._call.folder / f"X{self._asked}.npy"
            np.save(question, np.ascontiguousarray(array), allow_pickle=False)
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(f"{question}\t{answer}\n".encode())
                self._process.stdin.flush()
            except OSError:
                pass  # it ended, and the answer says why
            try:
                summary = self._answer()
                fault = self._call._plain(summary.get("fault", "")).replace(question.name, "B")
                if not answer.exists():
                    raise ValueError(fault)
                if fault:
                    warn(fault, ConvergenceWarning)
                found: Array = np.load(answer, allow_pickle=False)
                return found, summary
            finally:
                question.unlink(missing_ok=True)
                answer.unlink(missing_ok=True)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            said: dict[str, Any] = json.loads(line)
            return said
        errors: list[tuple[str, str]] = []
        for line in (self._call.folder / "errors.txt").read_bytes().splitlines():
            self._call._event(line.decode("utf-8", "replace"), [], errors)
        error = self._call._error(self._process.wait(), errors)
        self.close()
        raise error

    def close(self) -> None:
        """End the run."""
        self._end()


def _hang_up(process: subprocess.Popen[bytes], call: Call) -> None:
    """End a run that is served, and remove its files."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                pass  # the other end is gone
    _stop(process)
    call.__exit__(None, None, None)


def _environment() -> dict[str, str]:
    """Return the environment of a run, which stops with this process."""
    return {**_binary.environment(), "BIGFIT_PARENT": str(os.getpid())}


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn as from the line that called the package."""
    here = os.path.dirname(__file__)
    level = 1
    frame: Any = sys._getframe()
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == here:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def parameter(flag: str) -> str:
    """Return the name of the parameter that a flag has in Python."""
    return NAMES.get(flag) or COMMON.get(flag) or flag.replace("-", "_")


def flag_of(name: str) -> str:
    """Return the flag of a parameter."""
    return FLAGS.get(name) or name.replace("_", "-")


def _message(errors: list[tuple[str, str]]) -> str:
    text = "\n".join(note.removeprefix("bigfit: ") for _, note in errors)
    return re.sub(r"\nsee bigfit .*--help$", "", text)


def _progress(event: dict[str, Any]) -> str:
    """Return an event of the program as a line."""
    if event["event"] == "note":
        return str(event.get("note", ""))
    done = ""
    if event["event"] == "update" and event.get("total"):
        done = f"{100 * event.get('done', 0) / event['total']:.0f} %  "
    return f"{event.get('stage', ''):<12} {event.get('seconds', 0):5.1f} s  {done}{event.get('note', '')}"


def _threads(n_jobs: Optional[int]) -> Optional[int]:
    """Return the threads for a number of jobs in the convention of joblib; None and -1 are all."""
    if n_jobs is None:
        return None
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; it must be positive, or negative to count from all processors, as -1")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def _seed(random_state: Any) -> int:
    """Return a seed of the program."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _text(value: Any) -> str:
    """Return a value as flags have it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if np.ndim(value) > 0:
        return ",".join(_text(v) for v in np.asarray(value).tolist())
    return str(value)


def mapped_file(value: object) -> Optional[str]:
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

    Raises
    ------
    ValueError
        If another file has the name of the mapped one by now, or if the file is shorter.
    """
    if not isinstance(value, np.ndarray) or not value.flags.c_contiguous:
        return None
    held: Any = value
    while held is not None and not isinstance(held, np.memmap):
        held = getattr(held, "base", None)
    if held is None or held.filename is None or held.mode not in ("r", "r+", "w+") or Path(held.filename).suffix != ".npy":
        return None
    while isinstance(held.base, np.memmap):
        held = held.base
    if _replaced(held):
        raise ValueError(f"{held.filename} was replaced after it was mapped into memory; map it again, as by numpy.load(path, mmap_mode=\"r\")")
    try:
        path = str(held.filename)
        shape, fortran, dtype, begin = _header(path)
    except (OSError, ValueError):
        return None
    same = value.shape == shape and value.dtype == dtype and not fortran and held.offset == begin and _address(value) == _address(held)
    return os.path.abspath(path) if same else None


def _header(path: Union[str, os.PathLike[str]]) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return shape, order (True of Fortran), type and first byte of the array in a .npy file."""
    with open(path, "rb") as f:
        version = np.lib.format.read_magic(f)  # type: ignore[no-untyped-call]
        read: Any = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(f)
        return shape, fortran, dtype, f.tell()


#: Bytes of a mapped file that are compared at its two ends where the system does not say what is mapped.
_COMPARED = 1 << 16


def _replaced(held: Any) -> bool:
    """Return whether the name of a mapped file means another file by now, or the file is shorter.

    A file that was written in place is no other file: the array has what was written.
    """
    try:
        size = os.stat(held.filename).st_size
    except OSError:
        return False  # the file is gone, and the array still has what it held
    if size < held.offset + held.nbytes:
        return True
    mapped = _mapping(_address(held))
    if mapped is not None:
        try:
            return mapped.endswith(" (deleted)") or not os.path.samefile(mapped, held.filename)
        except OSError:
            return True

    # Without the system's word the two ends of the array tell.
    flat = held.reshape(-1).view(np.uint8)
    with open(held.filename, "rb") as f:
        for at in (0, max(0, held.nbytes - _COMPARED)):
            f.seek(held.offset + at)
            part = flat[at : at + _COMPARED]
            if f.read(len(part)) != part.tobytes():
                return True
    return False


def _mapping(address: int) -> Optional[str]:
    """Return the file that Linux says is mapped at an address; None where it says nothing."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as f:
            for line in f:
                begin, _, end = line.split(" ", 1)[0].partition("-")
                if int(begin, 16) <= address < int(end, 16):
                    path = line.split(maxsplit=5)[5:]
                    return path[0].rstrip("\n").replace("\\012", "\n") if path else None
    except OSError:
        pass
    return None


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


class Files:
    """Points in .npy files, one below the other, which the program reads by their paths.

    Parameters
    ----------
    names : str, path-like or list of them
        The files, which hold matrices with the same number of columns.

    Attributes
    ----------
    shape : (int, int)
        Shape of all of them together.
    """

    ndim = 2

    def __init__(self, names: Any) -> None:
        self.paths = [os.path.abspath(p) for p in ([names] if isinstance(names, (str, os.PathLike)) else names)]
        self._stamps = [_stamp(p) for p in self.paths]
        rows = 0
        columns = None
        for path in self.paths:
            try:
                shape = _header(path)[0]
            except ValueError as error:
                raise ValueError(f"{path} is no .npy file: {error}") from error
            if len(shape) != 2:
                raise ValueError(f"{path} has {len(shape)} dimensions; points are a matrix")
            if columns not in (None, shape[1]):
                raise ValueError(f"{path} has {shape[1]} columns, and {self.paths[0]} has {columns}")
            columns = shape[1]
            rows += shape[0]
        self.shape = (rows, columns or 0)

    @staticmethod
    def are_names(X: Any) -> bool:
        """Return whether X is a name of a file, or a list of names."""
        if isinstance(X, (str, os.PathLike)):
            return True
        return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(p, (str, os.PathLike)) for p in X)

    def check(self) -> None:
        """Refuse files that were changed since they were named."""
        for path, stamp in zip(self.paths, self._stamps):
            if _stamp(path) != stamp:
                raise ValueError(f"{path} was changed since it was given; fit again")


def _stamp(path: str) -> tuple[int, int, int]:
    """Return what changes with a file: its number, its size and the time of the last change."""
    state = os.stat(path)
    return state.st_ino, state.st_size, state.st_mtime_ns


def _writer(name: str, value: Any) -> tuple[str, int, Write]:
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


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the program and wait until it is gone."""
    try:
        process.terminate()
        process.wait(GRACE)
    except BaseException:  # it takes too long, or a second interrupt came
        process.kill()
        process.wait()


class _Folder:
    """A folder for the files of one call. What a killed process left is removed by later ones."""

    def __init__(self, size: int) -> None:
        base = _base(size)
        _sweep(base)
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=base))
        self._lock: Optional[int] = None
        if fcntl is not None:
            self._lock = os.open(self.path, os.O_RDONLY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _base(size: int) -> str:
    """Return the folder for temporary folders: shared memory where there is room."""
    shared = "/dev/shm"
    try:
        room = os.statvfs(shared)
        if room.f_bavail * room.f_frsize > 3 * size + SPARE and os.access(shared, os.W_OK | os.X_OK):
            return shared
    except (OSError, AttributeError):
        pass
    return tempfile.gettempdir()


_swept: set[str] = set()


def _sweep(base: str) -> None:
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
