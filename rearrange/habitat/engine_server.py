"""The program of an engine's process: loads a file with a class `Engine` and does what is asked of it.

Run as a script by `process.py`, with that file, a socket and the parent's process id as arguments.
Habitat's engine ends its process on many mistakes, so nobody else may live in it. Messages are (what to
do, its arguments), the first with what the class takes; answers are ("done", result) or ("failed", why).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.connection import Connection
from typing import Any


def load(file: str) -> Callable[..., Any]:
    """The class of a file, which may import modules beside it relatively: `rearrange` is not loaded for it."""
    spec = spec_from_file_location(
        "engine", file, submodule_search_locations=[os.path.dirname(file)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = sys.modules["engine"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Engine


def serve(connection: Connection, make: Callable[..., Any]) -> None:
    """Make the engine, then call its methods until the other end is closed."""
    engine: Any = None
    while True:
        try:
            what, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            if engine is None:
                engine = make(*arguments)
                result: Any = None
            else:
                result = getattr(engine, what)(*arguments)
            answer = ("done", result)
        except Exception as error:
            traceback.print_exc()
            answer = ("failed", f"{type(error).__name__}: {error}")
        connection.send(answer)


def _die_with(parent: int) -> None:
    """End with the parent, by whatever signal it ends, even while the engine is busy."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    file, descriptor, parent = sys.argv[-3:]
    _die_with(int(parent))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts all; the parent ends us
    serve(Connection(int(descriptor)), load(file))
    os._exit(0)  # the engine's own way out may crash after all is done
