"""Command lines: errors in one line with exit code 2, Ctrl-C in one line, and checks of paths."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from interrupts import INTERRUPTED, raise_again

MOST = 2**31 - 1  # of any number in an option: a larger one is a slip


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

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Read a word; whatever else a command asks of a number, none is below 0 or beyond MOST."""
        value = super()._get_value(action, arg_string)
        if type(value) in (int, float) and not 0 <= value <= MOST:  # NaN, too
            raise argparse.ArgumentError(action, f"must be from 0 to {MOST}, found {arg_string}")
        return value

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
    if path.exists() and not path.is_file():  # such as /dev/null, which a file would replace
        raise argparse.ArgumentTypeError(f"{path} is a device: name a file")
    _check_folder(path.parent, path)
    if path.exists() and not os.access(path, os.W_OK):
        raise argparse.ArgumentTypeError(f"{path} cannot be written: choose another")
    return path


def output_folder(text: str) -> Path:
    """The folder that an option names, there or not; otherwise as `output_file`."""
    path = Path(text)
    if not text:
        raise argparse.ArgumentTypeError("'' is no folder: name one")
    _check_folder(path, path)
    return path


def _check_folder(folder: Path, asked: Path) -> None:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{folder} is a file, no folder: choose another")
    try:
        with tempfile.TemporaryFile(dir=folder):  # who may write everywhere cannot do so in /proc
            pass
    except OSError:
        raise argparse.ArgumentTypeError(f"{asked} cannot be written: choose another") from None


def run_command(
    main: Callable[[Sequence[str]], int | None],
    errors: tuple[type[Exception], ...],
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
        code = main(sys.argv[1:]) or 0
        sys.stdout.flush()  # else Python does so at its end, with a traceback where it cannot
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output, such as `head`, has enough
        _drop_output()
        return INTERRUPTED
    except errors as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:  # a full disk names no file
            raise
        _drop_output()
        name = "" if error.filename is None else f"{error.filename}: "
        print(f"error: {name}{error.strerror}", file=sys.stderr)
        return 2


def _drop_output() -> None:
    """Forget what is printed and cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
