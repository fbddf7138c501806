"""Errors of command lines: one line, with exit code 2."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

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
