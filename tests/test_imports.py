"""No circle of imports in any package, those inside functions and those for types included."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from tests.helpers import ROOT
from tests.test_mirror import PACKAGES


def modules() -> dict[str, Path]:
    """Every module by its name."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    names = (path.relative_to(ROOT).with_suffix("").parts for path in files)
    return {
        ".".join(name[:-1] if name[-1] == "__init__" else name): path
        for name, path in zip(names, files, strict=True)
    }


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Names of what a module imports, anywhere in it."""
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield inner if inner in known else source


def test_no_module_imports_itself_in_a_roundabout_way():
    known = modules()
    graph = {name: set(imports(name, path, known)) & known.keys() for name, path in known.items()}
    assert graph["rearrange.habitat.engine.contents"] == {"rearrange.habitat.engine.world"}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
