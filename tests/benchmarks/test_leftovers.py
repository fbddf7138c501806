import os
import subprocess
import sys

from benchmarks.leftovers import MARK, abandoned, survivors


def test_a_process_that_stays_is_found():
    code = "import time; time.sleep(60)"
    environment = os.environ | {MARK: "test-of-leftovers"}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    try:
        assert survivors("test-of-leftovers", 0.2) == [process.pid]
        assert survivors("another mark", 0.0) == []
    finally:
        process.kill()
        process.wait()
    assert survivors("test-of-leftovers", 0.0) == []


def test_a_segment_that_stays_is_found():
    name = f"ver-test-{os.getpid()}"
    path = f"/dev/shm/{name}"
    with open(path, "w") as file:
        file.write("x")
    try:
        assert abandoned({name, "no such segment"}) == {name}
    finally:
        os.unlink(path)
    assert abandoned({name}) == set()
