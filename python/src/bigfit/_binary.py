"""Finds the bigfit program and compares its version with that of the package."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Union

from ._version import __version__

NAME = "bigfit.exe" if sys.platform == "win32" else "bigfit"

#: The environment variable that names the program.
VARIABLE = "BIGFIT_BIN"


class EngineError(RuntimeError):
    """The bigfit program is missing, has another version, failed, or was stopped."""


def candidates() -> Iterator[Path]:
    """Yield the places where the program may be, the first that counts first.

    Those are the program that pip installed with this package, wherever it put it, the
    folder of scripts of this Python, and the folders in ``$PATH``.
    """
    try:
        installed = importlib.metadata.files("bigfit") or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        if file.name == NAME:
            yield Path(str(file.locate()))
    yield Path(sysconfig.get_path("scripts")) / NAME
    found = shutil.which(NAME)
    if found:
        yield Path(found)


def find() -> str:
    """Return the path of the program.

    Returns
    -------
    path : str

    Raises
    ------
    EngineError
        If there is none, ``$BIGFIT_BIN`` names no program, or its version is not that
        of this package.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not _runs(named):
            raise EngineError(f"{VARIABLE} is {named!r}, which is no program that can be run")
        return _checked(named)
    for path in candidates():
        if _runs(path):
            return _checked(str(path))
    raise EngineError(
        f"the program bigfit was not found; install it with \"go install github.com/bigfit/bigfit/cmd/bigfit@latest\", "
        f"put it on PATH, or name it in {VARIABLE}"
    )


def _runs(path: Union[str, Path]) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _checked(path: str) -> str:
    state = os.stat(path)
    version = _version_of(path, state.st_mtime_ns, state.st_size)
    if _line(version) != _line(__version__):
        raise EngineError(
            f"{path} is bigfit {version} and the Python package is {__version__}; "
            f"install both of one version, or name another program in {VARIABLE}"
        )
    return path


def _line(version: str) -> list[str]:
    """Return what must agree: parameters may differ from one minor version to the next."""
    return version.split(".")[:2]


@functools.lru_cache(maxsize=16)
def _version_of(path: str, _changed: int, _size: int) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", timeout=60, env=environment()
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineError(f"{path} cannot be run: {error}") from error
    found = re.fullmatch(r"bigfit version (\d+\.\d+\S*)", done.stdout.strip())
    if done.returncode != 0 or not found:
        said = (done.stderr or done.stdout).strip()[:200]
        raise EngineError(f"{path} is not bigfit: --version gave exit code {done.returncode} and {said!r}")
    return found.group(1)


#: Variables of the program that count for Python too. Other ones that begin with BIGFIT_
#: stand for flags, which here are parameters of estimators.
KEPT = ("BIGFIT_MEMORY_LIMIT", "BIGFIT_THREADS", "BIGFIT_SIMD")


def environment() -> dict[str, str]:
    """Return the environment for the program.

    Returns
    -------
    variables : dict
        A copy of ``os.environ`` without the variables of flags that are parameters in
        Python, so that an estimator does what its parameters say.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("BIGFIT_") or name in KEPT}
