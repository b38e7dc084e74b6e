"""Makes wheels with the program inside, for several platforms, without pip or a network.

    python3 build_wheels.py                      # all platforms, into dist/
    python3 build_wheels.py --platform linux-amd64 --out DIR
    python3 build_wheels.py --platform host

The program is cross-compiled with CGO_ENABLED=0 and -trimpath. Names, order and dates in
the archive are fixed, so that two builds of the same source are the same bytes.
"""

import argparse
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGE = HERE / "src" / "bigfit"

#: Platforms: the values of GOOS and GOARCH, and the tags of a wheel. The program needs no C
#: library, so that one wheel is for glibc and musl alike.
PLATFORMS = {
    "linux-amd64": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "linux-arm64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "darwin-amd64": ["macosx_12_0_x86_64"],
    "darwin-arm64": ["macosx_12_0_arm64"],
    "windows-amd64": ["win_amd64"],
}
DATE = (2020, 1, 1, 0, 0, 0)


def host():
    """Return the platform of this computer."""
    system = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}[platform.system()]
    machine = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
    return f"{system}-{machine}"


def version():
    """Return the version in pyproject.toml."""
    return re.search(r'^version = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.M).group(1)


def commit():
    """Return the commit of the checkout; empty if this is none."""
    words = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        return subprocess.run(words, capture_output=True, check=True, encoding="ascii").stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def compile_program(name, folder):
    """Cross-compile the program and return its path."""
    goos, goarch = name.split("-")
    program = Path(folder) / ("bigfit.exe" if goos == "windows" else "bigfit")
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": goos, "GOARCH": goarch, "GOFLAGS": "-mod=readonly", "GOAMD64": "v1"}
    words = ["go", "build", "-trimpath", "-buildvcs=false", f"-ldflags=-s -w -buildid= -X main.commit={commit()}", "-o", str(program), "./cmd/bigfit"]
    subprocess.run(words, cwd=ROOT, env=environment, check=True)
    return program


def metadata(number):
    """Return the METADATA file: the fields of pyproject.toml and the README."""
    project = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    description = re.search(r'^description = "(.*)"$', project, re.M).group(1)
    python = re.search(r'^requires-python = "(.*)"$', project, re.M).group(1)
    needs = re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*)\]$", project, re.M).group(1))
    lines = ["Metadata-Version: 2.1", "Name: bigfit", f"Version: {number}", f"Summary: {description}", "License: Apache-2.0"]
    lines += [f"Requires-Python: {python}"] + [f"Requires-Dist: {n}" for n in needs] + ["Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text(encoding="utf-8")


def contents(name, program):
    """Return the files of a wheel: name in the archive, bytes, whether it can be run."""
    number = version()
    info = f"bigfit-{number}.dist-info"
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in PLATFORMS[name])
    files = [(f"bigfit/{p.name}", p.read_bytes(), False) for p in sorted([*PACKAGE.glob("*.py"), PACKAGE / "py.typed"])]
    files.append((f"bigfit/bin/{program.name}", program.read_bytes(), True))
    files.append((f"{info}/METADATA", metadata(number).encode(), False))
    files.append((f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: bigfit\nRoot-Is-Purelib: false\n{tags}".encode(), False))
    files.append((f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), False))
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data, _ in files)
    return files + [(f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), False)]


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write(path, files):
    """Write an archive whose bytes follow from the files alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, data, runs in files:
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system = 3
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def build(name, out, program=None):
    """Build the wheel of a platform and return its path; a program that is given is put in."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"bigfit-{version()}-py3-none-{'.'.join(PLATFORMS[name])}.whl"
    with tempfile.TemporaryDirectory() as folder:
        write(path, contents(name, program or compile_program(name, folder)))
    return path


def main():
    parser = argparse.ArgumentParser(description="Make wheels with the program inside.")
    parser.add_argument("--platform", action="append", choices=[*PLATFORMS, "host"], help="one of them; may be repeated (default: all)")
    parser.add_argument("--out", default=str(HERE / "dist"), help="folder to write to")
    chosen = parser.parse_args()
    for name in chosen.platform or PLATFORMS:
        path = build(host() if name == "host" else name, chosen.out)
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}", file=sys.stdout, flush=True)


if __name__ == "__main__":
    main()
