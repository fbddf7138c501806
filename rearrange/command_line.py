"""Errors of command lines, one line with exit code 2, and checks of their options."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from interrupts import INTERRUPTED, raise_again
from rearrange.errors import UserError

MOST = 10**9  # of what is counted on a command line: a larger number is a slip


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, with exit code 2.

    Attributes:
        called: What the user has typed instead of the module's name, `rearrange train`; for the next parser
            alone, as those of its subcommands are named after it.
    """

    called: ClassVar[str] = ""

    def __init__(self, prog: str | None = None, **options: Any) -> None:
        """Build the parser as argparse does."""
        super().__init__(OneLineParser.called or prog, **options)
        OneLineParser.called = ""

    def error(self, message: str) -> NoReturn:
        """Print the message alone and leave."""
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(2)


def output_file(text: str) -> Path:
    """The file that an option names; for `add_argument(type=...)`, so that it is checked before the work.

    Raises:
        argparse.ArgumentTypeError: Nothing can be written there.
    """
    path = Path(text)
    if not text or path.is_dir():
        raise argparse.ArgumentTypeError(f"'{text}' is a folder: name a file in it")
    _check_folder(path.parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise argparse.ArgumentTypeError(f"{path} cannot be written: choose another")
    return path


def output_folder(text: str) -> Path:
    """The folder that an option names, there or not; otherwise as `output_file`."""
    path = Path(text)
    _check_folder(path)
    return path


def _check_folder(folder: Path) -> None:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{folder} is a file, no folder: choose another")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError(f"{folder} cannot be written: choose another")


def run_command(
    main: Callable[[Sequence[str]], int | None],
    errors: tuple[type[Exception], ...] = (UserError,),
) -> NoReturn:
    """Run a command's main; `errors` become one line on standard error and exit code 2.

    So does what the operating system refuses, such as to write a file. Ctrl-C and SIGTERM are one line and
    INTERRUPTED.
    """
    raise SystemExit(_run(main, errors))


def _run(main: Callable[[Sequence[str]], int | None], errors: tuple[type[Exception], ...]) -> int:
    """The exit code. Given back, not raised, so that what an error holds on to, as workers, ends first."""
    try:
        raise_again()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends what is under way, too
        return main(sys.argv[1:]) or 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except errors as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None:
            raise
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2


def check_counts(options: Any, *names: str, least: int = 1) -> None:
    """Raise a UserError for the first option that is less than `least`, which is 1 or 0, or more than MOST."""
    limit = f"be at least {least}" if least else "not be negative"
    for name in names:
        value = getattr(options, name)
        if value is not None and value < least:
            raise UserError(f"{option(name)} must {limit}, found {value}")
        if value is not None and value > MOST:
            raise UserError(f"{option(name)} must be at most {MOST}, found {value}")


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
