from pathlib import Path

import numpy as np

from ver.collect.processes import start_process, stop_process
from ver.shared.arrays import SharedArrays
from ver.shared.doorbells import Doorbell
from ver.shared.locks import ProcessLock


def child(parts):
    arrays, lock, ask, answer = parts
    assert ask.wait(30.0)
    for _ in range(2000):
        with lock:
            arrays["count"][0] += 1
    arrays["row"][...] = 7.5
    answer.ring()


def test_arrays_locks_and_doorbells_are_shared_with_a_child_and_have_no_name():
    before = _shared_files()
    arrays = SharedArrays(
        {"count": ((1,), "int64"), "row": ((2, 3), "float32"), "none": ((4, 0), "float32")}
    )
    assert arrays["none"].shape == (4, 0)
    lock, ask, answer = ProcessLock(), Doorbell(), Doorbell()
    process = start_process("child", child, (arrays, lock, ask, answer))
    ask.ring()
    for _ in range(2000):
        with lock:
            arrays["count"][0] += 1
    assert answer.wait(30.0)
    assert _shared_files() == before
    stop_process(process, 10.0)
    assert process.exitcode == 0
    assert arrays["count"][0] == 4000
    np.testing.assert_array_equal(arrays["row"], 7.5)


def test_groups_go_by_prefix():
    arrays = SharedArrays({"observation/a": ((2,), "uint8"), "reward": ((2,), "float32")})
    assert list(arrays.group("observation")) == ["a"]


def _shared_files() -> set[Path]:
    """What this process has mapped of /dev/shm, where others come and go too."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {Path(line.split(maxsplit=5)[5]) for line in lines if "/dev/shm/" in line}
