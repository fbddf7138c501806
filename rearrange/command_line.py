"""Errors of command lines, one line with exit code 2, and checks of their options."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

import interrupts.command_line
from atomic_files import replacing
from interrupts import INTERRUPTED
from interrupts.command_line import OneLineParser, output_file, output_folder
from rearrange.declarations import FILE_ENDINGS
from rearrange.errors import UserError

__all__ = [
    "INTERRUPTED",
    "OneLineParser",
    "check_counts",
    "check_file_and_sheet",
    "option",
    "output_console",
    "output_file",
    "output_folder",
    "refuse",
    "run_command",
]


def run_command(
    main: Callable[[Sequence[str]], int | None],
    errors: tuple[type[Exception], ...] = (UserError,),
) -> NoReturn:
    """Run a command's main; see interrupts.command_line."""
    interrupts.command_line.run_command(main, errors)


def check_counts(options: Any, *names: str) -> None:
    """Raise a UserError for the first option that is given and less than 1."""
    for name in names:
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UserError(f"{option(name)} must be at least 1, found {value}")


def check_file_and_sheet(options: Any) -> None:
    """Raise a UserError where `file` is not named as YAML, or `output`, where it is given, as a picture."""
    if not options.file.endswith(FILE_ENDINGS):
        raise UserError(f"FILE must end in {' or '.join(FILE_ENDINGS)}, found {options.file}")
    check_picture(options)


def check_picture(options: Any) -> None:
    """Raise a UserError where `output` is given, and not named as a picture."""
    if options.output is not None and options.output.suffix != ".png":
        raise UserError(f"--output must end in .png, found {options.output}")


def save_picture(picture: Any, path: Path, told: str = "") -> None:
    """Write what has a method `save` as PNG, whole, and tell where, after a word; UserError where it cannot."""
    try:
        with replacing(path) as part:
            picture.save(part, "PNG")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}: choose another --output") from None
    print(f"{told}{path}")


def refuse(options: Any, reason: str, **unset: Any) -> None:
    """Raise a UserError for the first option that is set although it does not go with another.

    Args:
        options: The command line's.
        reason: Says so; "{option}" in it becomes the option.
        unset: Name of each such option -> what it is where it is not given.
    """
    for name, value in unset.items():
        if getattr(options, name) != value:
            raise UserError(reason.format(option=option(name)))


def option(name: str) -> str:
    """An option as it is typed: --max-steps for max_steps."""
    return f"--{name.replace('_', '-')}"


def output_console() -> Console:
    """Returns where tables are printed: where no terminal says how wide it is, they may have 120 columns."""
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if told else 120)
