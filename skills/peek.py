"""A look into the world of an environment while a training goes on.

Training and page share a small file. Who looks says in it, again and again, that somebody looks and at which
environment; the process that steps it then writes what can be seen there, at most so often. While nobody
looks, one step in eight costs a read of the file's first bytes.
"""

from __future__ import annotations

import importlib.util
import mmap
import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from atomic_files import write_whole
from nav.episode_files import HABITAT, SCAN
from rearrange.batched import DEVICE
from rearrange.errors import UserError
from skills.sight import Eye, Sight, eye_of
from ver.run_lock import RunLock

SIZE = 2**21  # bytes; a picture of 512 x 512 pixels and all poses
INTERVAL = 1 / 8  # [s] between sights: each costs the training
STEPS_PER_READ = 8  # a read costs a hundredth of a step
ASK = struct.Struct("<dq")  # until when somebody looks [s since 1970], at which environment
TOLD = struct.Struct("<qqI")  # how many sights there have been, bytes and checksum of the last
MADE = struct.Struct("<qq")  # how many environments there are, and the training's process
_TOLD_AT, _COUNT_AT, _DATA_AT = 16, 40, 64
FILE = "live.peek"  # in the run directory


class Peek:
    """The shared file, in the process of the one who looks or of the one who is looked at."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            UserError: It is not there.
        """
        try:
            with path.open("r+b") as file:
                self._map = mmap.mmap(file.fileno(), SIZE)
        except (OSError, ValueError):
            raise UserError(
                f"{path} is not there: only a training that was started with live=true can be watched"
            ) from None
        self._seen = 0

    @staticmethod
    def create(path: Path, count: int) -> None:
        """Make the file of a training with so many environments."""
        head = bytearray(SIZE)
        MADE.pack_into(head, _COUNT_AT, count, os.getpid())
        write_whole(path, bytes(head))  # a new file: who still looks at an old one keeps that

    @property
    def count(self) -> int:
        """Number of environments."""
        return MADE.unpack_from(self._map, _COUNT_AT)[0]

    def is_written(self) -> bool:
        """True if the training still runs, on this machine."""
        try:
            os.kill(MADE.unpack_from(self._map, _COUNT_AT)[1], 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # somebody else's
            return True
        return True

    def ask(self, environment: int, seconds: float = 2.0) -> None:
        """Say that somebody looks at an environment for some seconds more."""
        ASK.pack_into(self._map, 0, time.time() + seconds, environment)

    def asked(self) -> int:
        """The environment at which somebody looks; -1: nobody looks."""
        until, wanted = ASK.unpack_from(self._map, 0)
        return wanted if time.time() < until else -1

    def put(self, sight: Sight) -> None:
        """Show what is seen; too large a picture is left out."""
        data = sight.to_bytes()
        if len(data) > SIZE - _DATA_AT:
            data = replace(sight, picture=None).to_bytes()
        number = TOLD.unpack_from(self._map, _TOLD_AT)[0] + 1
        self._map[_DATA_AT : _DATA_AT + len(data)] = data
        TOLD.pack_into(self._map, _TOLD_AT, number, len(data), zlib.crc32(data))

    def take(self) -> Sight | None:
        """Take the last sight, once; None: nothing new, or it is just being written."""
        number, size, checksum = TOLD.unpack_from(self._map, _TOLD_AT)
        if number == self._seen:
            return None
        data = self._map[_DATA_AT : _DATA_AT + size]
        if zlib.crc32(data) != checksum:
            return None
        self._seen = number
        return Sight.from_bytes(data)

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()


@dataclass
class Window:
    """Of one environment or many side by side: shows the world at which somebody looks.

    Attributes:
        peek: Where.
        first: Number of the first environment.
        count: How many there are.
        eye: Looks at them.
    """

    peek: Peek
    first: int
    count: int
    eye: Eye
    _shown: float = field(default=0.0)
    _steps: int = field(default=0)

    def show(self, world: Any = None) -> None:
        """Called after every step."""
        del world
        self._steps += self.count
        if self._steps < STEPS_PER_READ:
            return
        self._steps = 0
        wanted = self.peek.asked() - self.first
        if not 0 <= wanted < self.count:
            return
        now = time.monotonic()
        if now - self._shown >= INTERVAL:
            self._shown = now
            self.peek.put(self.eye.look(0, wanted))


@dataclass(frozen=True)
class WatchedEnvironments:
    """Environments that can be looked at; picklable.

    Attributes:
        environments: What they are.
        path: The shared file.
    """

    environments: Any
    path: str

    def __call__(self, environment_index: int, seed: int) -> Any:
        """One environment."""
        return self._watched(self.environments(environment_index, seed), environment_index, 1)

    def make_vector(self, count: int, seed: int, threads: int = 0) -> Any:
        """All environments in one process."""
        return self._watched(self.environments.make_vector(count, seed, threads), 0, count)

    def _watched(self, env: Any, first: int, count: int) -> Any:
        eye = eye_of(env)
        if eye is not None:
            env.after_step = Window(Peek(Path(self.path)), first, count, eye).show
        return env


Watched = Callable[[Any], Any]


@contextmanager
def page_of(settings: Any, run: Path) -> Iterator[Watched]:
    """The page of a training with `live=true`, in a process that ends with it.

    Args:
        settings: Of the training, or of its first stage.
        run: The run directory.

    Yields:
        Makes environments that can be watched; without `live=true` it leaves them as they are.

    Raises:
        UserError: There is nothing to be watched, or no viser.
    """
    if not settings.live or os.environ.get("RANK", "0") != "0":
        yield lambda environments: environments
        return
    check_live(settings)
    RunLock(run).release()  # refuses a run directory that another training writes into
    path = run / FILE
    Peek.create(path, settings.trainer.collect.num_environments)
    command = [sys.executable, "-m", "live", "--watch", str(run)]
    command += [f"--homes={settings.homes}", f"--robot={getattr(settings, 'robot', '')}"]
    page = subprocess.Popen(command, start_new_session=True)  # Ctrl-C is the training's alone
    try:
        yield lambda environments: WatchedEnvironments(environments, str(path))
    finally:
        page.terminate()
        try:
            page.wait(10.0)
        except subprocess.TimeoutExpired:
            page.kill()
        path.unlink(missing_ok=True)


def check_live(settings: Any) -> None:
    """Raise a UserError where the worlds of a training cannot be watched."""
    if importlib.util.find_spec("viser") is None:
        raise UserError("live=true needs viser: pip install viser")
    sim = getattr(settings, "sim", HABITAT)
    if sim in (HABITAT, SCAN, DEVICE):
        raise UserError(f"live=true shows our own homes as MuJoCo has them: leave sim={sim} out")
