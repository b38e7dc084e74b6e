"""Prints the modules of the package with the docstrings of their public names, as JSON."""

import importlib
import inspect
import json
import sys

sys.path.insert(0, sys.argv[1])

MODULES = [
    "semi_supervised",
    "model_selection",
    "labeling",
    "neighbors",
    "manifold",
    "cluster",
    "kernels",
    "multioutput",
    "graph",
    "datasets",
]


def signature(thing):
    """Return the parameters of a callable as text, without types, which stand in the docstring."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(…)"
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name != "self"]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def methods(cls):
    """Describe the methods that the package itself gives a class."""
    found = []
    for name, method in inspect.getmembers(cls, callable):
        if name.startswith("_") or not getattr(method, "__module__", "").startswith("bigfit") or not method.__doc__:
            continue
        found.append(describe(name, method, "method"))
    return found


def describe(name, thing, kind):
    return {"name": name, "kind": kind, "signature": signature(thing), "doc": inspect.getdoc(thing) or ""}


def main():
    modules = []
    for name in MODULES:
        module = importlib.import_module("bigfit." + name)
        members = []
        for public in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
            thing = getattr(module, public)
            if not callable(thing):
                continue
            kind = "class" if inspect.isclass(thing) else "function"
            described = describe(public, thing, kind)
            if kind == "class":
                described["methods"] = methods(thing)
            members.append(described)
        modules.append({"name": "bigfit." + name, "doc": inspect.getdoc(module) or "", "members": members})
    json.dump(modules, sys.stdout)


main()
