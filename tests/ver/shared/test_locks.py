import os
import signal

from ver.collect.processes import start_process, stop_process
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
