"""Calls of the program: what is copied, what comes of errors, and what is left behind."""

import json
import os
import pickle
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import bigfit
from bigfit import EngineError, LabelSpreading, _binary, _run
from bigfit._run import Call, mapped_file

FAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo bigfit version {version}; exit; fi
{text}
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that puts a shell script in place of the program."""

    def make(text):
        path = tmp_path / f"fake{len(list(tmp_path.iterdir()))}"
        path.write_text(FAKE.format(version=bigfit.__version__, text=text))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv(_binary.VARIABLE, str(path))

    return make


def says(event, note, **more):
    return f"printf '%s\\n' '{json.dumps({'event': event, 'note': note, **more})}' >&2\n"


def run():
    with Call("fit") as call:
        call.input("-X", "X", np.zeros((3, 2)))
        return call.run()


def test_exit_codes(fake):
    fake(says("error", "bigfit: X.npy: --gamma-a is 3; see --distance\nsee bigfit fit --help") + "exit 2")
    with pytest.raises(ValueError, match="^X: gamma_a is 3; see metric$"):
        run()
    fake(says("error", "bigfit: too much", kind="memory") + "exit 2")
    with pytest.raises(MemoryError, match="too much"):
        run()
    fake("echo 'bigfit: out of memory: the address space is limited' >&2; exit 1")
    with pytest.raises(MemoryError, match="address space"):
        run()
    for text, message in {
        "exit 130": "interrupted",
        "kill -9 $$": "killed by signal 9",
        "echo half a line >&2; exit 1": "half a line",
        "exit 7": "exit code 7",
    }.items():
        fake(text)
        with pytest.raises(EngineError, match=message):
            run()


def test_not_converged(fake):
    fake(says("error", "bigfit: not converged after --restarts") + """echo '{"a": 1}'; exit 3""")
    with pytest.warns(ConvergenceWarning, match="^not converged after restarts$"):
        assert run() == {"a": 1}


def test_warnings_and_progress(fake, capfd):
    fake(says("note", "warning: odd labels") + says("end", "done", stage="graph", seconds=0.25) + "echo '{}'")
    with pytest.warns(UserWarning, match="^odd labels$"):
        run()
    assert capfd.readouterr().err == ""
    with warnings.catch_warnings(), Call("fit", verbose=1) as call:
        warnings.simplefilter("ignore")
        call.run()
    assert capfd.readouterr().err == "warning: odd labels\ngraph          0.2 s  done\n"


def alive(pid):
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"  # ended, and nobody waited for it
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not sys.platform.startswith("linux")


@pytest.mark.parametrize("text", ["exec sleep 60", "trap '' TERM; while :; do sleep 0.05; done"], ids=["stops", "does not stop"])
def test_interrupt_stops_the_child(fake, tmp_path, monkeypatch, text):
    monkeypatch.setattr(_run, "GRACE", 0.2)
    fake(f"echo $$ > {tmp_path}/pid\n" + text)

    def interrupt(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_leftovers_of_killed_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(_run, "_base", lambda _: str(tmp_path))
    monkeypatch.setattr(_run, "YOUNG", -1)
    code = f"""
import os, signal, bigfit._run as r
r._base = lambda _: {str(tmp_path)!r}
call = r.Call("fit")
print(call.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    left = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert os.path.isdir(left.stdout.strip()), left.stderr
    with Call("fit") as used:
        monkeypatch.setattr(_run, "_swept", {str(tmp_path)})
        assert used.folder.is_dir()
        assert os.path.isdir(left.stdout.strip())
        monkeypatch.setattr(_run, "_swept", set())
        with Call("fit") as call:
            assert call.folder.is_dir()
            assert used.folder.is_dir()  # is locked
            assert not os.path.exists(left.stdout.strip())


@pytest.mark.skipif(sys.platform != "linux", reason="the system stops children on Linux only")
def test_child_of_a_killed_process_stops():
    code = """
import bigfit._run as r
real = r.subprocess.Popen
def Popen(*words, **more):
    child = real(*words, **more)
    print(child.pid, flush=True)
    return child
r.subprocess.Popen = Popen
with r.Call("demo") as call:
    call.flag("points", 200000)
    call.output("-o", "demo")
    call.run()
"""
    # The first process that it starts is that for the version.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env) as python:
        python.stdout.readline()
        child = int(python.stdout.readline())
        time.sleep(0.5)
        assert alive(child)
        python.kill()
        python.wait()
    for _ in range(200):
        if not alive(child):
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        raise AssertionError("the child goes on")
    for left in folders_of(python.pid):
        shutil.rmtree(left)


def folders_of(pid):
    return list(Path(_run._base(0)).glob(f"{_run.PREFIX}{pid}-*"))


def test_mapped_file(tmp_path):
    X = np.arange(24.0).reshape(6, 4)
    path = str(tmp_path / "X.npy")
    np.save(path, X)
    m = np.load(path, mmap_mode="r")
    assert mapped_file(m) == path
    assert mapped_file(np.asarray(m)) == path
    for other in (X, m[1:], m[::-1], m[:, 1:], m.T, m.reshape(4, 6), m.view(np.int64), m + 1, np.load(path, mmap_mode="c"), list(X)):
        assert mapped_file(other) is None
    np.save(path, np.asfortranarray(X))
    assert mapped_file(np.load(path, mmap_mode="r")) is None
    X.tofile(tmp_path / "raw.npy")
    assert mapped_file(np.memmap(tmp_path / "raw.npy", shape=(6, 4))) is None


@pytest.mark.parametrize("system_says", [True, False])
def test_mapped_file_that_was_replaced(tmp_path, monkeypatch, system_says):
    X = np.arange(24.0).reshape(6, 4)
    path = tmp_path / "X.npy"
    np.save(path, X)
    m = np.load(path, mmap_mode="r")
    if not system_says:
        monkeypatch.setattr(_run, "_mapping", lambda _: None)
    assert mapped_file(m) == str(path)
    np.save(tmp_path / "new.npy", X + 1)
    os.replace(tmp_path / "new.npy", path)
    with pytest.raises(ValueError, match="X.npy was replaced after it was mapped"):
        mapped_file(m)
    with pytest.raises(ValueError, match="X.npy was replaced after it was mapped"):
        bigfit.KNeighborsTransformer(n_neighbors=2).fit(m)
    path.unlink()
    assert mapped_file(m) is None and m[5, 3] == 23  # the array is all there is, and is copied
    np.save(path, X)
    m = np.load(path, mmap_mode="r")
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match="X.npy was replaced after it was mapped"):
        mapped_file(m)


def test_names_of_files(tmp_path, blobs):
    X, y, _ = blobs
    names = []
    for i, part in enumerate(np.array_split(X, 3)):
        names.append(str(tmp_path / f"{i}.npy"))
        np.save(names[-1], part)
    whole = LabelSpreading().fit(X, y)
    m = LabelSpreading().fit(names, y)
    assert (m.label_distributions_ == whole.label_distributions_).all() and m.n_features_in_ == 4
    assert (m.predict(names[:1]) == whole.predict(X[:40])).all() and (m.predict(names[0]) == whole.predict(X[:40])).all()
    assert m.update(names[0]).transduction_.shape == (160,)
    np.save(names[1], X[:3, :2])
    with pytest.raises(ValueError, match="1.npy has 2 columns, and .*0.npy has 4"):
        LabelSpreading().fit(names, y)
    np.save(names[1], X[0])
    with pytest.raises(ValueError, match="1.npy has 1 dimensions"):
        LabelSpreading().fit(names, y)
    Path(names[1]).write_text("a,b")
    with pytest.raises(ValueError, match="1.npy is no .npy file"):
        LabelSpreading().fit(names, y)
    with pytest.raises(FileNotFoundError):
        LabelSpreading().fit([*names[:1], tmp_path / "none.npy"], y)


def test_mapped_points_are_not_copied(tmp_path, blobs, monkeypatch):
    X, y, truth = blobs
    np.save(tmp_path / "X.npy", X)
    given = []
    real = _run._writer
    monkeypatch.setattr(_run, "_writer", lambda name, value: given.append(name) or real(name, value))
    m = LabelSpreading().fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    assert given == ["y"]
    assert (m.transduction_ == truth).all()
    assert m.n_features_in_ == 4


def test_no_room_in_shared_memory():
    assert _run._base(0) in ("/dev/shm", tempfile.gettempdir())
    assert _run._base(1 << 60) == tempfile.gettempdir()


def test_seeds_and_threads():
    assert _run._seed(7) == _run._seed(np.int64(7)) == 7
    assert _run._seed(np.random.RandomState(1)) == _run._seed(np.random.RandomState(1))
    n = os.cpu_count()
    assert [_run._threads(j) for j in (None, 3, -1, -n - 5)] == [None, 3, n, 1]
    with pytest.raises(ValueError, match="n_jobs is 0"):
        _run._threads(0)


def test_values():
    assert [_run._text(v) for v in (True, np.False_, 3, 1e-8, np.float32(0.5), (0.25, 1), np.array([1.0, 2.0]), "x")] == [
        "true", "false", "3", "1e-08", "0.5", "0.25,1.0", "1.0,2.0", "x",
    ]


def test_threads_and_killed_children(blobs, monkeypatch):
    """100 fits in 8 threads, each fifth child killed: a result or an exception, nothing left."""
    X, y, truth = blobs
    children, killed, lock, real = [], [], threading.Lock(), subprocess.Popen

    class Popen(real):
        def __init__(self, words, **more):
            super().__init__(words, **more)
            with lock:
                children.append(self)
                victim = len(children) % 5 == 0
                if victim:
                    killed.append(self)
            if victim:
                self.kill()

    _binary.find()
    monkeypatch.setattr(_run.subprocess, "Popen", Popen)
    results, errors = [], []

    def work():
        for _ in range(100 // 8 + 1):
            with lock:
                if len(results) + len(errors) >= 100:
                    return
            try:
                m = LabelSpreading(calibrate="none").fit(X, y)
                results.append((m.transduction_ == truth).all())
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) + len(errors) >= 100
    assert all(results)
    # A child that was done before the signal came is a result.
    assert 0 < len(errors) <= len(killed)
    assert {type(e) for e in errors} == {EngineError}
    assert all("signal 9" in str(e) for e in errors)
    assert all(c.poll() is not None for c in children)


def test_memory_limit(blobs):
    X, y, _ = blobs
    started = time.monotonic()
    with pytest.raises(MemoryError, match="memory_limit"):
        LabelSpreading(memory_limit="1MiB").fit(X, y)
    assert time.monotonic() - started < 60


def test_formats(blobs):
    X, y, truth = blobs
    for points in (X.astype("f2"), X.astype("f4"), np.asfortranarray(X), sparse.csr_matrix(X), sparse.coo_matrix(X), X.tolist()):
        assert (LabelSpreading(calibrate="none").fit(points, y).transduction_ == truth).all()


def test_pickle_has_the_model(blobs, tmp_path):
    X, y, _ = blobs
    m = LabelSpreading().fit(X, y)
    code = "import pickle, sys, numpy as np; m = pickle.load(open(sys.argv[1], 'rb')); print(m.predict(np.load(sys.argv[2])).tolist())"
    with open(tmp_path / "m.pkl", "wb") as f:
        pickle.dump(m, f)
    np.save(tmp_path / "X.npy", X[:9])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "m.pkl", tmp_path / "X.npy"], capture_output=True, text=True, env=env)
    assert done.stdout.strip() == str(m.predict(X[:9]).tolist()), done.stderr
