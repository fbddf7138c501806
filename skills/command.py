"""Parts that the command lines share: one-line errors, records, JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import rearrange.command_line
import rearrange.errors
import ver.errors
from atomic_files import write_whole
from rearrange.shipped import SHIPPED
from rearrange.threads import processors

TELL_S = 10.0  # between lines that tell how far something is
USER_ERRORS = (rearrange.errors.UserError, ver.errors.UserError)


def run_command(main: Callable[[Sequence[str]], int | None]) -> NoReturn:
    """Run a command's main; user errors become one line on standard error and exit code 2."""
    rearrange.command_line.run_command(main, USER_ERRORS)


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON atomically, making the folder if needed; lists of plain values take one line each."""
    write_whole(path, json_text(value) + "\n")


def json_text(value: Any, indent: str = "") -> str:
    """JSON as with `indent=1`, but a list of plain values on one line."""
    inner = indent + " "
    if isinstance(value, dict) and value:
        items = [f"{json.dumps(str(k))}: {json_text(v, inner)}" for k, v in value.items()]
    elif isinstance(value, (list, tuple)) and any(
        isinstance(each, (dict, list, tuple)) for each in value
    ):
        items = [json_text(each, inner) for each in value]
    else:
        return json.dumps(value, default=os.fspath)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = f",\n{inner}".join(items)
    return f"{opening}\n{inner}{lines}\n{indent}{closing}"


def counted(number: int, noun: str) -> str:
    """For example "1 episode" and "2 episodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def short_path(path: str | Path) -> str:
    """A path as it is told: relative to the working directory, or to what is shipped, if it lies below."""
    path = Path(path)
    for folder in (Path.cwd(), SHIPPED):
        if path.is_relative_to(folder):
            return str(path.relative_to(folder))
    return str(path)


def machine() -> dict[str, Any]:
    """Describe this machine, for records.

    Processors of one name may compute differently in the last digits: family and vector units tell them apart.
    """
    told: dict[str, str] = {}
    with suppress(OSError):
        first = Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
        lines = (line.partition(":") for line in first.splitlines())
        told = {key.strip(): value.strip() for key, _, value in lines}
    kind = " ".join(told[key] for key in ("cpu family", "model") if key in told)
    found = {
        "cpu": told.get("model name", platform.processor() or platform.machine()),
        "kind": kind,
        "cores": processors(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
    torch = sys.modules.get("torch")  # who computes with it has imported it
    if torch is not None:
        found["vectors"] = torch.backends.cpu.get_cpu_capability()
        if torch.cuda.is_available():
            found["gpu"] = torch.cuda.get_device_name()
    return found


class Slowly:
    """Tells a person a line, at most every TELL_S."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """Tell by `say`."""
        self._say, self._told = say, -TELL_S

    def __call__(self, line: str) -> None:
        """Tell a line, unless one was told a moment ago."""
        if time.monotonic() - self._told >= TELL_S:
            self._told = time.monotonic()
            self._say(line)
