import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from select import PIPE_BUF

from tests.helpers import ROOT
from ver.collect.processes import describe_error, enter_worker, start_process


def test_a_report_of_any_error_goes_through_a_pipe_in_one_piece():
    try:
        raise ValueError("x" * 10**5)
    except ValueError as error:
        line, detail = describe_error(error)
    assert line.startswith("ValueError: xxx")
    assert len(pickle.dumps(("fault", (10**6, "not_finite", line, 10**6), detail))) < PIPE_BUF - 4


def interrupted_at_once(path: Path) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    enter_worker(os.getppid())
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    path.write_text("blocked" if signal.SIGINT in blocked else "works")


def test_a_worker_that_still_starts_does_not_hear_of_ctrl_c(tmp_path, capfd):
    process = start_process("worker", interrupted_at_once, tmp_path / "told")
    process.join(60)
    assert (process.exitcode, capfd.readouterr().err) == (0, "")
    assert (tmp_path / "told").read_text() == "works"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_nothing_is_left_when_the_trainer_is_killed(tmp_path):
    script = (
        "from tests.helpers import toy_environments\n"
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
    assert any("steps" in line for line in trainer.stdout)
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
