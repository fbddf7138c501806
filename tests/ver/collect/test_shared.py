import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from select import PIPE_BUF

import numpy as np

from ver.collect.processes import describe_error, start_process, stop_process
from ver.collect.queues import Doorbell, ProcessLock
from ver.collect.shared_memory import SharedArrays

ROOT = Path(__file__).parents[3]


def child(parts):
    arrays, lock, ask, answer = parts
    assert ask.wait(30.0)
    for _ in range(2000):
        with lock:
            arrays["count"][0] += 1
    arrays["row"][...] = 7.5
    answer.ring()


def test_arrays_locks_and_doorbells_are_shared_with_a_child_and_have_no_name():
    before = _shared_files([os.getpid()])
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
    assert _shared_files([os.getpid()]) == before
    stop_process(process, 10.0)
    assert process.exitcode == 0
    assert arrays["count"][0] == 4000
    np.testing.assert_array_equal(arrays["row"], 7.5)


def test_a_report_of_any_error_goes_through_a_pipe_in_one_piece():
    try:
        raise ValueError("x" * 10**5)
    except ValueError as error:
        line, detail = describe_error(error)
    assert line.startswith("ValueError: xxx")
    assert len(pickle.dumps(("fault", (10**6, "not_finite", line, 10**6), detail))) < PIPE_BUF - 4


def test_a_doorbell_keeps_a_ring_and_times_out_without_one():
    bell = Doorbell()
    assert not bell.wait(0.0)
    assert not bell.wait(0.002)
    bell.ring()
    bell.ring()
    assert bell.wait(0.0)
    assert not bell.wait(0.0)


def test_a_patient_doorbell_waits_for_longer_than_it_was_asked_and_loses_no_ring():
    bell, woken = Doorbell(patient=True), []
    bell.ring()
    assert bell.wait(0.0)
    waiter = threading.Thread(target=lambda: woken.append(bell.wait(0.01)), daemon=True)
    waiter.start()
    waiter.join(0.2)
    if hasattr(os, "eventfd"):  # elsewhere it is a pipe, and waits no longer than it was asked
        assert waiter.is_alive()
        bell.ring()
        waiter.join(10.0)
        assert woken == [True]


def test_groups_go_by_prefix():
    arrays = SharedArrays({"observation/a": ((2,), "uint8"), "reward": ((2,), "float32")})
    assert list(arrays.group("observation")) == ["a"]


def test_an_environment_worker_loads_no_torch():
    code = "import sys, ver.collect.environment_worker; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


def test_nothing_is_left_when_the_trainer_is_killed(tmp_path):
    script = (
        "import sys; sys.path.insert(0, 'tests/ver')\n"
        "import toy_environments\n"
        "from ver import Trainer, merge_config, TrainerConfig\n"
        "config = merge_config(TrainerConfig, [], ['tensorboard=false', 'log_interval_s=0',\n"
        "    'network.hidden_size=8', 'collect.rollout_length=8', 'collect.num_environments=4',\n"
        "    'collect.environments_per_worker=2', 'collect.num_inference_workers=2'])\n"
        f"Trainer(config, toy_environments.make_cue, {str(tmp_path)!r}).train()\n"
    )
    trainer = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert trainer.stdout is not None
    assert "steps" in trainer.stdout.readline()
    family = _descendants(trainer.pid)
    assert len(family) >= 3  # two environment workers, one inference worker
    theirs = _shared_files([trainer.pid, *family])
    trainer.kill()
    trainer.wait(10)
    trainer.stdout.close()
    deadline = time.monotonic() + 20
    while any(_runs(pid) for pid in family) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in family if _runs(pid)]
    assert not [path for path in theirs if path.exists()]


def _descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = [int(child) for child in children]
    return found + [grandchild for child in found for grandchild in _descendants(child)]


def _shared_files(pids: list[int]) -> set[Path]:
    """What these processes have mapped of /dev/shm, where others come and go too."""
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return {Path(line.split(maxsplit=5)[5]) for line in lines if "/dev/shm/" in line}


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
