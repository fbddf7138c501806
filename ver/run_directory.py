"""Run directory of a training, checked before it begins."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

from interrupts.command_line import output_folder
from ver.errors import UserError


def run_directory(asked: str, default: str | Path) -> Path:
    """The run directory of a training.

    Args:
        asked: By the settings; empty: the default.
        default: Where it is where none is asked for.

    Raises:
        UserError: Nothing can be written there.
    """
    try:
        return output_folder(asked or str(default))
    except ArgumentTypeError as error:
        raise UserError(f"run: {error}") from None
