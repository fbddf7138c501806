"""A look into the world of an environment worker while a training goes on.

Training and page share a small file. Who looks says in it, again and again, that somebody looks and at which
worker's world; that worker then writes what can be seen there, at most so often. While nobody looks a step
costs one read of the file's first bytes.
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
from nav.env import NavEnv
from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from skills.settings import Environments
from skills.sight import Sight, eye_of
from ver.run_lock import RunLock

SIZE = 2**21  # bytes; a picture of 512 x 512 pixels and all poses
INTERVAL = 1 / 10  # [s] between sights: each costs the training
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

    def is_asked(self, environment: int) -> bool:
        """True if somebody looks at this environment."""
        until, wanted = ASK.unpack_from(self._map, 0)
        return wanted == environment and time.time() < until

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
    """Of one environment: shows its world while somebody looks at it.

    Attributes:
        peek: Where.
        environment: Its number.
        look: Gives what is seen; takes the picture's size, see `skills.sight`.
    """

    peek: Peek
    environment: int
    look: Callable[[int], Sight]
    _shown: float = field(default=0.0)

    def show(self, world: Any = None) -> None:
        """Called after every step."""
        del world
        if not self.peek.is_asked(self.environment):
            return
        now = time.monotonic()
        if now - self._shown >= INTERVAL:
            self._shown = now
            self.peek.put(self.look(0))


@dataclass(frozen=True)
class WatchedEnvironments:
    """Environments that can be looked at; picklable.

    Attributes:
        environments: What they are.
        path: The shared file.
    """

    environments: Environments
    path: str

    def __call__(self, environment_index: int, seed: int) -> Any:
        """One environment."""
        env: Any = self.environments(environment_index, seed)
        if isinstance(env, NavEnv | RearrangeEnv):
            look = eye_of(env).look
            env.after_step = Window(Peek(Path(self.path)), environment_index, look).show
        return env


Watched = Callable[[Environments], Any]


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
    if settings.trainer.system == "batched":
        raise UserError(
            "live=true shows a worker's world, trainer.system=batched has none: take ver"
        )
    if getattr(settings, "sim", "habitat") == "habitat":
        raise UserError("live=true shows our own homes: leave sim=habitat out")
