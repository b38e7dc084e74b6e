"""The wheel of this computer, in an empty virtual environment."""

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

RUN = """
import numpy as np, bigfit
from bigfit import _binary
r = np.random.default_rng(0)
X = np.vstack([r.normal(size=(20, 3)), r.normal(size=(20, 3)) + 5])
y = np.full(40, -1); y[:3] = 0; y[-3:] = 1
print((bigfit.LabelSpreading().fit(X, y).transduction_ == np.repeat([0, 1], 20)).all(), _binary.find(), bigfit.__file__)
"""


def test_installed(tmp_path):
    if not shutil.which("go"):
        pytest.skip("wheels are made by Go")
    try:
        venv.create(tmp_path / "venv", with_pip=True, system_site_packages=True)
    except (subprocess.CalledProcessError, OSError) as error:
        pytest.skip(f"no virtual environment with pip can be made: {error}")
    words = ["go", "run", "./packaging/release", "-platforms", "host", "-kinds", "wheel", "-dirty", "-out", tmp_path]
    subprocess.run(words, cwd=ROOT, check=True)
    wheel = next(tmp_path.glob("*.whl"))
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "BIGFIT_BIN")}
    words = [scripts / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", wheel]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([scripts / "python", "-c", RUN], capture_output=True, text=True, env={**environment, "PATH": ""}, cwd=tmp_path)
    right, program, package = done.stdout.split() or [done.stderr, "", ""]
    assert right == "True"
    assert Path(program).resolve().parent == scripts.resolve()
    assert Path(package).is_relative_to(tmp_path / "venv")
