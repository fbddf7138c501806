"""Errors of command lines, one line with exit code 2, and checks of their options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from rearrange.errors import UserError


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, with exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Print the message alone and leave."""
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(2)


def run_command(
    main: Callable[[Sequence[str]], int | None],
    errors: tuple[type[Exception], ...] = (UserError,),
) -> NoReturn:
    """Run a command's main; `errors` become one line on standard error and exit code 2."""
    try:
        raise SystemExit(main(sys.argv[1:]) or 0)
    except errors as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def check_counts(options: Any, *names: str, least: int = 1) -> None:
    """Raise a UserError for the first option that is set and less than `least`, which is 1 or 0."""
    limit = f"be at least {least}" if least else "not be negative"
    for name in names:
        value = getattr(options, name)
        if value is not None and value < least:
            raise UserError(f"{option(name)} must {limit}, found {value}")


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
