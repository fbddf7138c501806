"""A process beside this one that makes large values meanwhile: scenes, while agents act.

A thread would not do: reading a scene holds Python's lock for longer than a step may take. Arrays come in
shared memory, so that taking a value over takes no time. All of it ends with this process.

The rest is pickled: the trees by which scans look up places would take long to make anew. Nobody else has an
end of the socket pair, which has no name, so nothing is unpickled but what this program wrote.
"""

from __future__ import annotations

import mmap
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

from rearrange.errors import UserError

HEAD = struct.Struct("<cQ")  # what an answer is, and where in its file the pickled part begins
MADE, REFUSED, FAILED = b"m", b"r", b"f"
GRACE_S = 5.0  # in which a process that has died ends
LINE = 64  # bytes of the cache, at which arrays begin
_RUN = (
    "import sys; sys.path[:] = sys.argv[2:]; from nav.background import serve; serve(sys.argv[1])"
)


class Background:
    """Carries out one function after another in a process of its own, which starts with the first."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Of the process; None where none runs."""
        return None if self._process is None else self._process.pid

    def ask(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Begin a function of some module; `answer` gives what it returns."""
        if self._socket is None:
            self._start()
        assert self._socket is not None
        with suppress(OSError):  # it has died: `answer` tells
            self._socket.sendall(pickle.dumps((function, arguments), 5))

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # A session of its own: Ctrl-C is for this process, whose end it sees
            self._process = subprocess.Popen(
                [sys.executable, "-c", _RUN, str(theirs.fileno()), *sys.path],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                env=dict(os.environ) | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
        self._socket = ours

    @property
    def ready(self) -> bool:
        """Return whether `answer` would not wait."""
        if self._socket is None:
            return False
        watched = select.poll()
        watched.register(self._socket, select.POLLIN)
        return bool(watched.poll(0))

    def answer(self) -> Any:
        """Wait for the oldest function that was asked for, and return what it did.

        Raises:
            UserError: It raised one.
            RuntimeError: It raised something else, or the process died.
        """
        assert self._socket is not None
        try:
            head, files, *_ = socket.recv_fds(self._socket, HEAD.size, 1, socket.MSG_WAITALL)
        except OSError:
            head, files = b"", []
        if len(head) < HEAD.size or not files:
            raise RuntimeError(f"the process in the background {self._death()}")
        kind, start = HEAD.unpack(head)
        with os.fdopen(files[0], "rb") as file:
            memory = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        value, places = pickle.loads(memory[start:])
        if kind == REFUSED:
            raise UserError(value)
        if kind == FAILED:
            raise RuntimeError(value)
        return pickle.loads(value, buffers=[memory[begin:end] for begin, end in places])

    def _death(self) -> str:
        """Tell how the process ended; one that goes on, whose answer came without its file, is ended."""
        assert self._process is not None
        try:
            code = self._process.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            self.close()
            return "sent an answer that could not be opened: are there too many open files?"
        self.close()
        names = {int(number): number.name for number in signal.Signals}
        told = names.get(-code, f"exit status {code}")
        return f"died ({told}){': is memory short?' if told == 'SIGKILL' else ''}"

    def close(self) -> None:
        """End the process, whatever it does; safe to call twice."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._socket, self._process = None, None


# --- in the process -----------------------------------------------------------------------------------


def serve(number: str) -> None:
    """Carry out what is asked for on a socket of that number until the other side ends."""
    connection = socket.socket(fileno=int(number))
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    asked = connection.makefile("rb")
    while True:
        try:
            function, arguments = pickle.load(asked)
        except (EOFError, ConnectionError):
            return
        with _new_file() as file:
            head = _write(file, function, arguments)
            with suppress(OSError):  # nobody is there any more
                socket.send_fds(connection, [head], [file.fileno()])


def _end_with(connection: socket.socket) -> None:
    """End this process as soon as the other one has, also in the middle of something."""
    watched = select.poll()
    watched.register(connection, 0)  # a hang-up is told always
    watched.poll()
    os._exit(0)


def _new_file() -> BinaryIO:
    """A file without a name: it is gone when nobody has it open any more."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("scene"), "w+b")
    return tempfile.TemporaryFile()


def _write(file: BinaryIO, function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """Write what a function returns, arrays first; return the head of the answer."""
    parts: list[pickle.PickleBuffer] = []
    places: list[tuple[int, int]] = []
    try:
        value: Any = pickle.dumps(function(*arguments), 5, buffer_callback=parts.append)
        kind = MADE
    except UserError as error:
        value, kind, parts = str(error), REFUSED, []
    except Exception as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        value, kind, parts = told, FAILED, []
    for part in parts:
        begin = -(-file.tell() // LINE) * LINE
        file.seek(begin)
        places.append((begin, begin + file.write(part.raw())))
    start = file.tell()
    pickle.dump((value, places), file, 5)
    file.flush()
    return HEAD.pack(kind, start)
