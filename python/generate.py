"""Writes src/bigfit/_generated.py: the parameters of all estimators, as the program has them.

    python3 generate.py          # writes the file
    python3 generate.py --check  # exit code 1 if it is not up to date

Names, defaults, ranges and documentation come from ``bigfit models --json``, those of
``embed`` and ``cluster`` from their help, so that Go and Python cannot disagree.
"""

import json
import re
import subprocess
import sys
import textwrap
import types
from pathlib import Path

HERE = Path(__file__).parent
# The package without its __init__, which needs the file that is written here.
sys.modules["bigfit"] = types.ModuleType("bigfit")
sys.modules["bigfit"].__path__ = [str(HERE / "src" / "bigfit")]

from bigfit import _binary, _run  # noqa: E402

TARGET = HERE / "src" / "bigfit" / "_generated.py"

#: Flags of embed and cluster that are parameters of their own; others name files or are
#: those of graphs and kernels.
COMMANDS = {
    "embed": ["dimensions", "laplacian", "tolerance", "alpha", "gamma", "power", "landmarks"],
    "cluster": ["clusters", "rule", "row-normalize", "min-component", "restarts", "tolerance", "gamma", "landmarks"],
}
#: Parameters of the kernel, for --gamma of those commands.
KERNEL = ["kernel", "sigma", "degree", "scale", "offset"]

HEADER = '''"""Parameters of the estimators. Written by generate.py from ``bigfit models --json``; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from sklearn.base import BaseEstimator
'''

RUN = [
    ("random_state", None, "Any", "int, RandomState instance or None, default=None", "Seed of everything random; None is the program's own seed, so that results repeat."),
    ("n_jobs", None, "Optional[int]", "int, default=None", "Threads; None and -1 stand for all processors. Results do not depend on it."),
    ("memory_limit", None, "Union[str, int, None]", "str or int, default=None", 'Memory that a run may use, as "8GiB" or in bytes; what needs more is a MemoryError before the work begins. None is what the machine has.'),
    ("verbose", 0, "int", "int, default=0", "1 prints the stages of a run on stderr, 2 their progress too."),
]
MODE = ("mode", "distance", "str", '{"distance", "connectivity"}, default="distance"', "Values of the graph: distances, or ones.")
CALIBRATE = ("calibrate", "auto", "Union[int, str]", 'int, "auto" or "none", default="auto"', "Folds in which labels are held out for probabilities and intervals; auto takes 10 where that is cheap.")


def class_of(learner):
    """Return the name of the class of the parameters of a learner."""
    return "".join(w.title() for w in learner.split("-")) + "Parameters"


def used():
    """Return the names of the classes of parameters that the modules of the package use."""
    sources = (p.read_text(encoding="utf-8") for p in sorted(TARGET.parent.glob("*.py")) if p != TARGET)
    return {name for text in sources for name in re.findall(r"\bparameters\.(\w+Parameters)\b", text)}


def ask(*words):
    done = subprocess.run([_binary.find(), *words], capture_output=True, check=True, encoding="utf-8", env=_binary.environment())
    return done.stdout


def default(p, open_graph=False):
    """Return the default of a parameter as a value of Python; rules and what is chosen are None."""
    text = p.get("default")
    if text is None or open_graph:
        return None
    kind = p["kind"]
    if kind == "boolean":
        return text == "true"
    if kind == "choice" or text in p.get("choices", []):
        return text
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return float(text)
        if kind == "numbers":
            return tuple(float(v) for v in text.split(","))
    except ValueError:
        pass
    return None


# How the program describes shares of classes, and Python: a dict has the place of classes with colons.
SHARES = "by class as in a:0.8,b:0.2 or ascending by class"
SHARES_HERE = "as a dict of classes or ascending by class"


def describe(p, value):
    """Return the type and the text of a parameter for a docstring."""
    kinds = {"integer": "int", "number": "float", "numbers": "sequence of float", "boolean": "bool", "choice": ""}
    choices = "{" + ", ".join(f'"{c}"' for c in p.get("choices", [])) + "}"
    kind = "dict or " * (SHARES in p["doc"]) + kinds[p["kind"]]
    if p.get("choices"):
        kind = f"{kind} or {choices}" if kind else choices
    kind += ", default=" + (f'"{value}"' if isinstance(value, str) else repr(value))
    doc = re.sub(r"--([a-z][a-z-]*[a-z])", lambda m: _run.parameter(m.group(1)), p["doc"].replace(SHARES, SHARES_HERE))
    text = sentence(doc)[:-1]
    if p.get("range"):
        text += "; " + p["range"]["text"]
    if value is None:
        if p.get("required"):
            text += "; None is by cross-validation on the labels" + (f" among {', '.join(p['grid'])}" if p.get("grid") else "")
            text += f", with few labels {p['few']}" if p.get("few") else ""
        elif p.get("default"):
            text += f"; None is {p['default']}"
    if p.get("only"):
        only = p["only"]
        other = _run.parameter(only["param"])
        text += f"; for {other} = {' or '.join(only['in'])}" if only.get("in") else f"; where {other} is positive"
    return kind, text + "."


def hint(p, value):
    """Return the type hint of a parameter."""
    kinds = {"integer": ["int"], "number": ["float"], "numbers": ["Sequence[float]"], "boolean": ["bool"], "choice": []}[p["kind"]]
    kinds = ["Mapping[Any, float]"] * (SHARES in p["doc"]) + kinds + ["str"] * bool(p.get("choices") or p["kind"] == "choice") + ["None"] * (value is None)
    if len(kinds) == 1:
        return kinds[0]
    if len(kinds) == 2 and kinds[1] == "None":
        return f"Optional[{kinds[0]}]"
    return f"Union[{', '.join(kinds)}]"


def entries(params, open_graph=False):
    """Return (name, default, type hint, type, text) of parameters."""
    out = []
    for p in params:
        value = default(p, open_graph)
        out.append((_run.parameter(p["name"]), value, hint(p, value), *describe(p, value)))
    return out


def from_help(command, names):
    """Return parameters from the flags in the help of a command."""
    text = re.search(r"^Flags:\n(.*?)\n\n", ask(command, "--help"), re.S | re.M).group(1)
    text = re.sub(r"\n {20,}", " ", text)
    kinds = {"int": "integer", "float": "number", "name": "choice", "": "boolean"}
    found = {}
    for line in text.split("\n"):
        m = re.fullmatch(r"  (?:-\w,| {3}) --([a-z-]+) ?(\w*) {2,}(.*)", line)
        if m and m.group(1) in names:
            flag, kind, doc = m.groups()
            p = {"name": flag, "kind": kinds[kind], "doc": doc}
            given = re.search(r" \(default:? (.*)\)$", doc)
            if given:
                p["doc"] = doc[: given.start()]
            p["default"] = given.group(1) if given else {"boolean": "false"}.get(p["kind"])
            if p["kind"] == "integer" and "; auto " in doc:
                p["choices"] = ["auto"]
            if p["kind"] == "choice":
                p["doc"], listed = p["doc"].split(": ", 1)
                p["choices"] = [re.sub(r" .*", "", c) for c in listed.split(", ")]
            if p["default"] == "all":
                p["default"], p["doc"] = None, p["doc"] + "; None is all"
            found[flag] = p
    missing = set(names) - set(found)
    if missing:
        sys.exit(f"bigfit {command} --help has no flags {', '.join(sorted(missing))}")
    return [found[name] for name in names]


def base(name, doc, constants, parameters):
    """Return the source of a base class."""
    signature = "".join(f"        {n}: {t} = {v!r},\n" for n, v, t, _, _ in parameters)
    body = "".join(f"        self.{n} = {n}\n" for n, *_ in parameters)
    wrapped = ""
    for n, _, _, kind, text in parameters:
        wrapped += f"    {n} : {kind}\n" + textwrap.fill(text, 100, initial_indent=" " * 8, subsequent_indent=" " * 8) + "\n\n"
    source = f"\n\nclass {name}(BaseEstimator):\n"
    source += f'    """{doc}\n\n    Parameters\n    ----------\n{wrapped.rstrip()}\n    """\n\n'
    source += "".join(f"    {n} = {v!r}\n" for n, v in constants)
    return source + f"\n    def __init__(\n        self,\n        *,\n{signature}    ) -> None:\n{body.rstrip()}\n"


def sentence(text):
    """Return a text as a sentence; symbols keep their case."""
    return (text[0].upper() + text[1:] if text[0].isascii() and text[1:2].isalpha() else text) + "."


def generate():
    learners = json.loads(ask("models", "--json"))
    graph = next(m["graph_params"] for m in learners if m.get("graph_params") and not m.get("open_graph"))
    known = {m["name"]: m for m in learners}
    ready = [dict(p, choices=p["choices"] + ["precomputed"]) if p["name"] in ("distance", "weights") else p for p in graph]
    rows = [p for p in ready if p["name"] not in ("class-weights", "class-graphs")]
    out = HEADER + f"\nVERSION = {_binary._version_of(_binary.find(), 0, 0)!r}\n"
    out += f"\n#: Parameters of the graph of nearest neighbours.\nGRAPH = {tuple(_run.parameter(p['name']) for p in graph)!r}\n"
    out += f"\n#: What every learner learns.\nLEARNERS = {({m['name']: tuple(m['learns'].split(',')) for m in learners})!r}\n"
    wanted = used()
    for m in learners:
        if class_of(m["name"]) not in wanted:
            continue
        own = entries(m["params"])
        if m.get("graph_params"):
            defaults = {p["name"]: p.get("default") for p in m["graph_params"]}
            mine = [{**p, "default": defaults[p["name"]]} for p in (graph if "points" in m["needs"] else ready)]
            own += entries(mine, m.get("open_graph", False))
        if set(m["learns"].split(",")) & {"classes", "values"} and "labels" not in m["learns"]:
            own.append(CALIBRATE)
        constants = [("_model", m["name"]), ("_needs", tuple(m["needs"].split(",")))]
        doc = sentence(m["help"]) + (f"\n\n    After {m['source']}." if m.get("source") else "")
        out += base(class_of(m["name"]), doc, constants, own + RUN)
    kernel = [p for p in known["rls"]["params"] if p["name"] in KERNEL]
    for command, names in COMMANDS.items():
        own = entries(from_help(command, names)) + entries(rows) + entries(kernel)
        out += base(command.title() + "Parameters", f"Parameters of bigfit {command}.", [("_command", command)], own + RUN)
    norms = {p["name"]: p for p in known["laprls"]["params"]}
    own = entries([
        {"name": "gamma-i", "kind": "number", "doc": "weight γ_I of the intrinsic norm; 0 leaves the graph out", "default": "1"},
        {"name": "gamma-a", "kind": "number", "doc": "weight γ_A of the ambient norm; only γ_I/γ_A matters", "default": "1"},
        *(norms[name] for name in ("power", "scaling", "laplacian")),
    ])
    out += base("KernelParameters", "Parameters of bigfit kernel.", [("_command", "kernel")], own + entries(rows) + entries(kernel) + RUN)
    alpha = ("alpha", 1.0, "float", "float, default=1.0", "Takes the density of the points out: fully with 1, not at all with 0; from 0 to 1.")
    time = ("time", 1.0, "float", "float, default=1.0", "Time t of the diffusion, in |1 - λ|^t; at least 0.")
    own = entries([p for p in from_help("embed", COMMANDS["embed"]) if p["name"] in ("dimensions", "tolerance")])
    out += base("DiffusionParameters", "Parameters of bigfit embed for diffusion maps.", [("_command", "embed")], own + [alpha, time] + entries(rows) + RUN)
    search = [p for p in graph if p["name"] in ("neighbors", "distance", "method", "patience", "recall", "pca")]
    out += base("NeighborsParameters", "Parameters of bigfit neighbors.", [("_command", "neighbors")], entries(search) + [MODE] + RUN)
    near = [p for p in search if p["name"] not in ("neighbors", "recall")]
    radius = ("radius", 1.0, "float", "float, default=1.0", "Distance up to which points are neighbours; positive.")
    out += base("RadiusNeighborsParameters", "Parameters of bigfit neighbors with a radius.", [("_command", "neighbors")], [radius, *entries(near), MODE] + RUN)
    own = from_help("features", ["hops", "normalization", "self-loops"])
    opened = next(m["graph_params"] for m in learners if m.get("open_graph"))
    open_rows = [p for p in opened if p["name"] not in ("class-weights", "class-graphs")]
    out += base("FeaturesParameters", "Parameters of bigfit features.", [("_command", "features")], entries(own) + entries(open_rows, True) + RUN)
    own = [p for p in graph if p["name"] not in ("class-weights", "class-graphs")]
    out += base("GraphParameters", "Parameters of bigfit graph.", [("_command", "graph")], entries(own) + RUN)
    return out


def main():
    text = generate()
    if "--check" in sys.argv:
        if TARGET.read_text(encoding="utf-8") != text:
            sys.exit(f"{TARGET} is not up to date; run python3 generate.py")
        return
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
