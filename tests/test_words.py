"""Docstrings begin with a noun or a verb: they say what something is or does, they do not ask."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.helpers import ROOT
from tests.helpers.statements import statements_of

QUESTIONS = {"What", "Where", "Whether", "How", "Who", "Whose", "Which", "When", "Why"}
# Module, class and function docstrings of these are clean; of `rearrange`, the heads of modules
# outside the folders that are listed below. Shorten the list.
CLEAN = (
    *(
        "atomic_files",
        "interrupts",
        "ver",
        "nav",
        "planner",
        "live",
        "console",
        "benchmarks",
        "experiments",
        "examples",
    ),
    *("scripts", "skills/*.py", "skills/specs", "skills/knowledge", "skills/initiation"),
)
NOT_YET = ("sim", "tasks", "robot", "scenes")  # of rearrange


def files() -> Iterator[Path]:
    for name in CLEAN:
        for path in ROOT.glob(name):
            yield from sorted(path.rglob("*.py")) if path.is_dir() else (path,)


def questions(path: Path, heads_only: bool = False) -> list[str]:
    """Docstrings of a file that begin with a question word: "path:line: first line" each."""
    found = []
    for node in statements_of(path.read_text()):
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if not isinstance(node, kinds[:1] if heads_only else kinds):
            continue
        text = ast.get_docstring(node) or "."
        if text.split()[0].strip(",.:;") in QUESTIONS:
            where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
            found.append(f"{where}:{node.body[0].lineno}: {text.splitlines()[0]}")
    return found


def test_docstrings_begin_with_a_noun_or_a_verb():
    assert [line for path in files() for line in questions(path)] == []


def test_heads_of_modules_of_the_world_do_too():
    paths = sorted((ROOT / "rearrange").rglob("*.py"))
    clean = [p for p in paths if p.relative_to(ROOT).parts[1] not in NOT_YET]
    assert [line for path in clean for line in questions(path, heads_only=True)] == []


def test_a_question_is_found(tmp_path):
    path = tmp_path / "riddle.py"
    path.write_text(
        '"""What is kept."""\n\n\nclass A:\n    """Who acts."""\n\n'
        '    def f(self):\n        """Whatever acts."""\n'
    )
    assert questions(path) == ["riddle.py:1: What is kept.", "riddle.py:5: Who acts."]
    assert questions(path, heads_only=True) == ["riddle.py:1: What is kept."]
