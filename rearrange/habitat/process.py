"""The process in which a Habitat engine of one world runs, seen from outside."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rearrange.errors import UserError

ENGINE = Path(__file__).with_name("engine") / "__init__.py"
SERVER = Path(__file__).with_name("engine_server.py")
# Runs the server as a script: as a module of ours it would import MuJoCo and numba, too.
_RUN = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"
INSTALL = (
    "conda install habitat-sim withbullet headless -c conda-forge -c aihabitat "
    "(or from source, see docs/habitat.md)"
)
_TIME_LIMIT = 120.0  # [s] for one answer; the first one loads the engine
_LOG_LINES = 3


class EngineError(UserError):
    """The engine died, hung or refused; the message ends with the last lines that it logged."""


def check_installed() -> None:
    """Raise a UserError that says what to install where habitat-sim is missing; imports nothing."""
    if importlib.util.find_spec("habitat_sim") is None:
        raise UserError(f"sim=habitat needs habitat-sim, which is not installed: {INSTALL}")


def render_device() -> int:
    """The GPU that engines draw with, HABITAT_GPU; -1 is software.

    Without an NVIDIA GPU any other number ends the engine.

    Raises:
        UserError: HABITAT_GPU is no whole number from -1 on.
    """
    told = os.environ.get("HABITAT_GPU", "-1")
    if told != "-1" and not told.isdecimal():
        raise UserError(f"HABITAT_GPU: the number of a GPU, or -1, is expected, not {told!r:.60}")
    return int(told)


class EngineProcess:
    """One engine; it ends with this process.

    Args:
        settings: What the engine takes, see `engine.Engine`.
        name: For messages, e.g. "world 0".
        file: Where the class `Engine` is.
    """

    def __init__(self, settings: dict[str, Any], name: str, file: Path = ENGINE) -> None:
        self.name = name
        self._asked, self._owes = "starting", False
        ours, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as log:
            # Not multiprocessing: environment workers are daemons, which may not have its children.
            ends = [str(theirs.fileno()), str(os.getpid())]
            self._process = subprocess.Popen(
                [sys.executable, "-c", _RUN, str(SERVER), str(file), *ends],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"MAGNUM_LOG": "quiet", "HABITAT_SIM_LOG": "quiet", "GLOG_minloglevel": "2"}
                | dict(os.environ),
            )
            self._log = os.dup(log.fileno())
        self._connection: Connection | None = Connection(ours.detach())
        self.ask("start", settings)
        self.answer()

    @property
    def alive(self) -> bool:
        """Whether the engine can still be asked."""
        return self._connection is not None

    @property
    def pid(self) -> int:
        """Of the engine's process."""
        return self._process.pid

    def ask(self, what: str, *arguments: Any) -> None:
        """Send a request; `answer` waits for what comes of it.

        An answer that nobody has waited for, as another world's engine failed before, is dropped.
        """
        if self._owes:
            with suppress(EngineError):
                self.answer()
        self._asked = what
        if self._connection is None:
            raise EngineError(f"the Habitat engine of {self.name} has ended: reset that world")
        try:
            self._connection.send((what, arguments))
            self._owes = True
        except OSError:
            self._bury()

    def answer(self) -> Any:
        """What came of the request.

        Raises:
            EngineError: The engine died, takes too long, or refused.
        """
        connection, self._owes = self._connection, False
        if connection is None:
            raise EngineError(f"the Habitat engine of {self.name} has ended: reset that world")
        try:
            if not connection.poll(_TIME_LIMIT):
                self._process.kill()
                self._bury(f"hung for more than {_TIME_LIMIT:g} s")
            outcome, result = connection.recv()
        except (EOFError, OSError):
            self._bury()
            raise AssertionError("unreachable") from None
        if outcome == "failed":
            raise EngineError(f"the Habitat engine of {self.name}, at {self._asked}: {result}")
        return result

    def _bury(self, how: str = "") -> None:
        """Raise an EngineError that says how the engine ended."""
        try:
            code = self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if not how:
            names = {int(number): number.name for number in signal.Signals}
            how = f"died ({names.get(-code, f'exit status {code}')})"
        log = self.last_lines()
        self.close()
        raise EngineError(
            f"the Habitat engine of {self.name} {how} at {self._asked}; "
            + (f"its last words: {log}" if log else "it logged nothing")
        )

    def last_lines(self) -> str:
        """The end of what the engine logged, in one line."""
        size = os.fstat(self._log).st_size
        tail = os.pread(self._log, 4000, max(0, size - 4000)).decode(errors="replace")
        lines = [" ".join(line.split()) for line in tail.splitlines() if line.strip()]
        return " | ".join(lines[-_LOG_LINES:])[-600:]

    def close(self) -> None:
        """End the engine; safe to call twice."""
        if self._connection is None:
            return
        self._connection.close()
        self._connection = None
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._log)

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # At the end of the program an engine ends by itself, and modules may be gone
        if getattr(self, "_connection", None) is not None and not ending():
            self.close()
