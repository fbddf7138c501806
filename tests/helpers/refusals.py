"""Runs of a command that must end with one line and exit code 2, before any work."""

from __future__ import annotations

import io
import runpy
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from unittest import mock

from skills.command import run_command

PATIENCE = 60.0  # [s] that a refusal may take, on a machine with other work too


def refusal(main: Callable[[Sequence[str]], int | None], words: Sequence[str]) -> str:
    """The line with which a command refuses these words.

    Raises:
        AssertionError: It ends otherwise, or not at all.
    """
    return _refused(lambda: run_command(main), words)


def refusal_of(module: str, words: Sequence[str]) -> str:
    """The line with which `python -m MODULE` refuses these words; see `refusal`."""

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # runpy's: other tests have imported it
            runpy.run_module(module, run_name="__main__", alter_sys=True)

    return _refused(run, words)


def _refused(run: Callable[[], object], words: Sequence[str]) -> str:
    told, printed, code = io.StringIO(), io.StringIO(), None
    with (
        mock.patch.object(sys, "argv", ["rearrange", *words]),
        redirect_stderr(told),
        redirect_stdout(printed),
        limited(),
    ):
        try:
            run()
        except SystemExit as left:
            code = left.code
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}") from error
    if code != 2:
        raise AssertionError(f"exit code {code}")
    if told.getvalue().count("\n") != 1 or printed.getvalue():
        raise AssertionError(f"no single line: {told.getvalue() + printed.getvalue()!r}")
    return told.getvalue().rstrip("\n")


@contextmanager
def limited() -> Iterator[None]:
    """Let what hangs, or has begun to work, raise a TimeoutError."""

    def end(*_: object) -> None:
        raise TimeoutError(f"it goes on after {PATIENCE:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
