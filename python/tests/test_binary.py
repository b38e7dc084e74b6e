"""The search for the program and the comparison of versions."""

import importlib.metadata
import os
import re
import stat
from pathlib import Path

import pytest

import bigfit
from bigfit import EngineError, _binary


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders in place of those of pip, of scripts and PATH, without programs."""
    monkeypatch.delenv(_binary.VARIABLE, raising=False)
    (tmp_path / "site").mkdir()
    path = importlib.metadata.PackagePath("..", "installed", _binary.NAME)
    path.dist = importlib.metadata.PathDistribution(tmp_path / "site" / "bigfit-0.dist-info")
    monkeypatch.setattr(_binary.importlib.metadata, "files", lambda _: [path])
    monkeypatch.setattr(_binary.sysconfig, "get_path", lambda _: str(tmp_path / "scripts"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path


def test_order(places, monkeypatch):
    with pytest.raises(EngineError, match="go install.*BIGFIT_BIN"):
        _binary.find()
    echo = f"echo bigfit version {bigfit.__version__}\n"
    for folder in ("path", "scripts", "installed"):  # each counts before the one in front of it
        found = program(places / folder / _binary.NAME, echo)
        assert os.path.samefile(_binary.find(), found)
    named = program(places / "mine", echo)
    monkeypatch.setenv(_binary.VARIABLE, named)
    assert _binary.find() == named


def test_wrong_programs(places, monkeypatch):
    for text, message in {
        "echo bigfit version 7.1.0": "is bigfit 7.1.0 and the Python package is",
        "echo hello": "is not bigfit: --version gave exit code 0 and 'hello'",
        "echo trouble >&2; exit 4": "exit code 4 and 'trouble'",
    }.items():
        monkeypatch.setenv(_binary.VARIABLE, program(places / re.sub(r"\W", "", text), text + "\n"))
        with pytest.raises(EngineError, match=re.escape(message)):
            _binary.find()
    monkeypatch.setenv(_binary.VARIABLE, str(places / "none"))
    with pytest.raises(EngineError, match="BIGFIT_BIN is .*none"):
        _binary.find()


def test_version_is_the_engines(engine):
    assert _binary._version_of(engine, 0, 0) == bigfit.__version__
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert f'version = "{bigfit.__version__}"' in text


def test_environment(monkeypatch):
    monkeypatch.setenv("BIGFIT_NEIGHBORS", "3")
    monkeypatch.setenv("BIGFIT_MEMORY_LIMIT", "8GiB")
    variables = _binary.environment()
    assert "BIGFIT_NEIGHBORS" not in variables
    assert variables["BIGFIT_MEMORY_LIMIT"] == "8GiB"
    assert variables["PATH"] == os.environ["PATH"]
