"""Files and functions are small enough to be read at once."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.helpers import ROOT
from tests.helpers.statements import statements_of
from tests.test_mirror import PACKAGES

FILE_LINES, FUNCTION_LINES = 400, 60  # what they stay below


def too_long(path: Path) -> Iterator[str]:
    """Yields "path: lines" and "path: function: lines" of what reaches a limit."""
    name, text = path.name, path.read_text(encoding="utf-8")
    if path.is_relative_to(ROOT):
        name = str(path.relative_to(ROOT))
    if (lines := len(text.splitlines())) >= FILE_LINES:
        yield f"{name}: {lines}"
    if lines < FUNCTION_LINES:
        return
    for node in statements_of(text):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if lines >= FUNCTION_LINES:
                yield f"{name}: {node.name}: {lines}"


def test_files_and_functions_are_short():
    folders = (*PACKAGES, "tests", "examples", "scripts")
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 500
    assert [line for path in files for line in too_long(path)] == []


def test_what_is_too_long_is_found(tmp_path):
    path = tmp_path / "long.py"
    path.write_text("def f():\n" + "    x = 1\n" * (FUNCTION_LINES - 2))
    assert list(too_long(path)) == []
    path.write_text(path.read_text() + "    x = 2\n")
    assert list(too_long(path)) == ["long.py: f: 60"]
    path.write_text("x = 1\n" * FILE_LINES)
    assert list(too_long(path)) == ["long.py: 400"]
