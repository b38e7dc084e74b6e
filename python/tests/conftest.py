"""Where the program is, and what every test must leave behind: nothing."""

import os
from pathlib import Path

import numpy as np
import pytest

from bigfit import EngineError, _binary, _run


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "error::ResourceWarning")
    # Small fits gain nothing from more threads, and several tests run at a time.
    os.environ.setdefault("BIGFIT_THREADS", "1")


@pytest.fixture(autouse=True)
def engine():
    """Skip where there is no program; one that is named must be good."""
    try:
        return _binary.find()
    except EngineError as error:
        if _binary.VARIABLE in os.environ:
            raise
        pytest.skip(str(error))


def folders():
    """Return the folders of calls of this process that are there."""
    return {p for base in ("/dev/shm", os.environ.get("TMPDIR", "/tmp")) for p in Path(base).glob(f"{_run.PREFIX}{os.getpid()}-*")}


@pytest.fixture(autouse=True)
def nothing_left():
    before = folders()
    yield
    assert folders() <= before


@pytest.fixture
def blobs():
    """Three groups of points, of which two a class are labeled."""
    r = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    X = r.normal(size=(120, 4)) + 6 * np.eye(3, 4)[truth]
    y = np.full(120, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:4]] = c
    return X, y, truth
