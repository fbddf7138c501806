"""Statements of a module: all that files and docstrings are judged by, without a look at every expression."""

import ast
from collections.abc import Iterator

BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


def statements_of(text: str) -> Iterator[ast.AST]:
    """The module itself, and every statement in it at any depth."""
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [each for each in ast.iter_child_nodes(node) if isinstance(each, BLOCKS)]
