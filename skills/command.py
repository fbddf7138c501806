"""What the command lines share: one-line errors, records, atomic files."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import rearrange.errors
import ver.errors
from ver.public import without_private_folders

USER_ERRORS = (rearrange.errors.UserError, ver.errors.UserError)


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, with exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Print the message alone and leave."""
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(2)


def run_command(main: Callable[[Sequence[str]], int | None]) -> NoReturn:
    """Run a command's main; user errors become one line on standard error and exit code 2."""
    try:
        raise SystemExit(main(sys.argv[1:]) or 0)
    except USER_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON atomically, making the folder if needed."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically, making the folder if needed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def counted(number: int, noun: str) -> str:
    """For example "1 episode" and "2 episodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def short_path(path: str | Path) -> str:
    """A path as it is told: relative to the working directory if it lies below."""
    path, here = Path(path), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def public_command(module: str, arguments: Sequence[str]) -> str:
    """A command as files that are given away tell it: without the private folders in its arguments."""
    return f"python -m {module} {shlex.join(without_private_folders(list(arguments)))}"


def machine() -> dict[str, Any]:
    """What this machine is, for records."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "system": platform.system(),
    }
