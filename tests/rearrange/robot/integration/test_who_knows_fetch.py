"""Fetch is named by few: everybody else is handed a RobotSpec."""

import ast
from pathlib import Path

import pytest

from tests.helpers import ROOT

PRODUCT = ("rearrange", "nav", "skills", "planner", "live", "console", "benchmarks", "experiments")
ALLOWED = {
    "rearrange/robot/registry.py": "finds it by name",
    "rearrange/robot/fetch_fingers.py": "is Fetch with another hand",
    "rearrange/habitat": "habitat-sim and Bullet have the Fetch that habitat-lab has",
    "benchmarks/habitat_lab_scene.py": "likewise, for habitat-lab itself",
}


def imports_of(tree: ast.AST) -> set[str]:
    """Modules, and names in them, that are imported anywhere in a file."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and node.value == "rearrange.robot.fetch":
            found.add(node.value)  # for importlib
    return found


def knows_fetch(source: str) -> bool:
    return "fetch" in source and "rearrange.robot.fetch" in imports_of(ast.parse(source))


@pytest.mark.parametrize(
    "source",
    [
        "import rearrange.robot.fetch",
        "from rearrange.robot import fetch",
        "def f():\n    from rearrange.robot.fetch import FETCH",
        "import_module('rearrange.robot.fetch')",
    ],
)
def test_every_way_to_import_it_is_noticed(source):
    assert knows_fetch(source)
    assert not knows_fetch("from rearrange.robot import find_robot")


def test_nobody_else_imports_fetch():
    files = [path for package in PRODUCT for path in (ROOT / package).rglob("*.py")]
    knowing = {str(path.relative_to(ROOT)) for path in files if knows_fetch(path.read_text())}
    allowed = {name for name in knowing if name in ALLOWED or str(Path(name).parent) in ALLOWED}
    assert knowing - allowed == set()
    assert all(
        any(name == place or name.startswith(f"{place}/") for name in knowing) for place in ALLOWED
    )
