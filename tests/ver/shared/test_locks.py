import os
import signal
import time

import pytest

from ver.collect.processes import start_process, stop_process
from ver.errors import WorkerCrashError
from ver.shared.doorbells import Doorbell
from ver.shared.locks import ProcessLock


def hold(parts):
    lock, held, rest = parts
    with lock:
        held.ring()
        rest.wait(60.0)


def test_a_lock_is_free_again_once_its_holder_was_killed():
    lock, held, rest = ProcessLock(), Doorbell(), Doorbell()
    process = start_process("holder", hold, (lock, held, rest))
    try:
        assert held.wait(30.0)
        os.kill(process.pid, signal.SIGKILL)
        with lock:  # would wait for a minute
            pass
    finally:
        stop_process(process, 10.0)


def test_who_stops_while_holding_it_keeps_nobody_waiting_for_ever():
    lock, held, rest = ProcessLock(), Doorbell(), Doorbell()
    process = start_process("holder", hold, (lock, held, rest))
    try:
        assert held.wait(30.0)
        os.kill(process.pid, signal.SIGSTOP)
        lock.patience_s = 0.3
        begin = time.monotonic()
        with pytest.raises(WorkerCrashError, match=r"held the rollout's lock for more than 0\.3 s"):
            lock.__enter__()
        assert time.monotonic() - begin < 20.0
        os.kill(process.pid, signal.SIGCONT)
        lock.patience_s = 30.0
        rest.ring()
        with lock:  # it was only slow
            pass
    finally:
        stop_process(process, 10.0)
