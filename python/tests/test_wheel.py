"""The wheel of this computer, in an empty virtual environment."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))

import build_wheels  # noqa: E402

RUN = """
import numpy as np, bigfit
from bigfit import _binary
r = np.random.default_rng(0)
X = np.vstack([r.normal(size=(20, 3)), r.normal(size=(20, 3)) + 5])
y = np.full(40, -1); y[:3] = 0; y[-3:] = 1
print((bigfit.LabelSpreading().fit(X, y).transduction_ == np.repeat([0, 1], 20)).all(), _binary.find(), bigfit.__file__)
"""


def test_same_bytes_and_record(tmp_path):
    program = tmp_path / "bigfit"
    program.write_bytes(bytes(range(256)) * 1000)
    first, again = (build_wheels.build(build_wheels.host(), tmp_path / part, program) for part in "ab")
    assert first.name == again.name and first.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(first) as archive:
        lines = archive.read(next(n for n in archive.namelist() if n.endswith("RECORD"))).decode().splitlines()
        assert [line.split(",")[0] for line in lines] == archive.namelist()
        for line in lines[:-1]:
            name, digest, size = line.split(",")
            data = archive.read(name)
            assert len(data) == int(size)
            assert digest == "sha256=" + build_wheels._digest(data)
        assert archive.getinfo("bigfit/bin/bigfit").external_attr >> 16 & 0o111


def test_installed(engine, tmp_path):
    try:
        venv.create(tmp_path / "venv", with_pip=True, system_site_packages=True)
    except (subprocess.CalledProcessError, OSError) as error:
        pytest.skip(f"no virtual environment with pip can be made: {error}")
    named = tmp_path / "bigfit"
    named.symlink_to(engine)
    wheel = build_wheels.build(build_wheels.host(), tmp_path, named)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "BIGFIT_BIN")}
    words = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", wheel]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([python, "-c", RUN], capture_output=True, text=True, env={**environment, "PATH": ""}, cwd=tmp_path)
    right, program, package = done.stdout.split() or [done.stderr, "", ""]
    assert right == "True"
    assert Path(program).parent.parent == Path(package).parent
    assert Path(package).is_relative_to(tmp_path / "venv")
