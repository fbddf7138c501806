import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.helpers import ROOT
from ver.config import DistributedConfig
from ver.distributed import SingleProcess, average_dictionaries, join_group
from ver.errors import UserError

PROGRAM = ROOT / "tests/helpers/rank_program.py"


def with_packages() -> str:
    """The repository in front of where packages are looked for besides."""
    return os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


@contextmanager
def ranks(
    directory: Path, *arguments: str, launch: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen]:
    """Two ranks of the program under torchrun, ended at the latest on leaving."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    # A free port, so that other runs on the machine are left alone.
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0", *launch]
    what, *overrides = arguments
    process = subprocess.Popen(
        [*command, str(PROGRAM), what, str(directory), *overrides],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": with_packages(), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
        process.communicate()


def by_hand(
    directory: Path, what: str, *overrides: str, stdout: int = subprocess.PIPE
) -> list[subprocess.Popen]:
    """Two ranks of the program without torchrun, which takes seconds to start: as on different machines."""
    environment = os.environ | {
        "PYTHONPATH": with_packages(),
        "OMP_NUM_THREADS": "1",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": str(free_port()),
    }
    return [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), what, str(directory), *overrides],
            cwd=ROOT,
            env=environment | {"RANK": str(rank)},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]


def results(directory: Path) -> list[dict]:
    return [json.loads((directory / f"rank_{rank}.json").read_text()) for rank in (0, 1)]


def children_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in children.read_text().split()] if children.exists() else []


def rank_processes(launcher: subprocess.Popen, since: set[int] = frozenset()) -> dict[int, int]:
    """{rank: process id} once both run the program."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = {}
        for pid in set(children_of(launcher.pid)) - since:
            with suppress(OSError):
                for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    if entry.startswith(b"RANK="):
                        found[int(entry[5:])] = pid
        if len(found) == 2:
            return found
        time.sleep(0.1)
    raise TimeoutError("the ranks did not start")


def wait_until(condition, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def shared_memory() -> set[str]:
    """Files in /dev/shm; Python's own semaphores of other processes come and go there."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("sem.")}


@pytest.fixture(scope="module")
def checked(tmp_path_factory) -> list[dict]:
    """Results of one launch, which takes many seconds; each with the run's directory and output."""
    overrides = ["total_steps=900", "distributed.preemption=optimal"]
    directory = tmp_path_factory.mktemp("check")
    processes = by_hand(directory, "check", *overrides)
    try:
        told = [process.communicate(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    assert [process.returncode for process in processes] == [0, 0], told
    output = "".join(said for said, _ in told)
    return [result | {"run": directory / "run", "output": output} for result in results(directory)]


def test_two_ranks_with_half_the_batch_each_learn_what_one_does_with_the_whole(checked):
    for result in checked:
        halves = result["halves"]
        # Adam turns rounding errors of small gradients into ones of up to its step size.
        assert halves["parameter_error"] < 2e-5
        assert halves["loss_error"] < 1e-5
        assert halves["clipped"]
        assert halves["normalised"] == 4 * 12
        assert halves["digest"] != halves["before"]
    assert checked[0]["halves"]["digest"] == checked[1]["halves"]["digest"]


def test_no_thread_of_the_group_outlives_it(checked):
    """One that frees a message while Python ends aborts the process: here 7 of 60 that ended under load."""
    for rank, result in enumerate(checked):
        left = (result["run"].parent / f"threads_{rank}.json").read_text()
        assert "python" in left
        assert "gloo" not in left


def test_exchanges(checked):
    for result in checked:
        assert result["numbers"] == {"loss": 1.5}
        assert result["gradients"] == [[0.5] * 6, [5.0]]
        assert result["gathered"] == [{"from": 0, "text": ""}, {"from": 1, "text": "x"}]
        assert result["broadcast"] == [0.0] * 4
        assert result["asked"] == [0, "no answer"]
        assert result["quiet"] == [False] * 3
        assert result["one_flag"] is True
        assert result["count"] == 3


def test_a_wish_to_stop_is_agreed_on_with_the_next_average(checked):
    for result in checked:
        assert result["agreed_before"] is False
        assert result["agreed_after"] is True
        assert result["heard"] is True


def test_training_on_two_ranks(checked):
    main, other = checked
    assert main["digest"] == other["digest"] != main["first"]["digest"] == other["first"]["digest"]
    for name in ("steps", "episodes", "learning_rate"):
        assert main[name] == other[name]
    assert main["steps"] >= 900
    # Rank 0 alone reports, and its rows are about both.
    assert other["rows"] == []
    lines = (main["run"] / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == main["rows"]
    assert main["rows"][0]["steps"] == 2 * 4 * 16
    assert main["rows"][-1]["steps"] == main["steps"]
    # Episodes have six steps; both ranks' are counted.
    assert main["episodes"] == pytest.approx(main["steps"] / 6, abs=16)
    assert main["output"].count("steps/s") == len(lines)
    # Each rank has environments and random numbers of its own.
    assert other["environment_seed"] == main["environment_seed"] + 4
    assert main["draw"][0] != other["draw"][0]
    assert main["draw"][1] != other["draw"][1]


@pytest.mark.slow
@pytest.mark.parametrize("collection", ["collect.overlap=true", "system=batched"])
def test_ranks_that_collect_in_other_ways_learn_the_same(tmp_path, collection):
    overrides = ["total_steps=900", collection, "ppo.normalise_advantages=true"]
    with ranks(tmp_path, "train", *overrides) as process:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output
    main, other = results(tmp_path)
    assert main["digest"] == other["digest"] != main["first"]["digest"]
    assert [row["steps"] for row in main["rows"]] == [128.0 * (i + 1) for i in range(8)]


@pytest.mark.slow
def test_training_goes_on_after_a_rank_was_killed(tmp_path):
    before = shared_memory()
    launch = ("--max-restarts", "1")
    overrides = ["total_steps=20000", "distributed.preemption=optimal"]
    with ranks(tmp_path, "train", *overrides, launch=launch) as process:
        victims = rank_processes(process)
        checkpoints = tmp_path / "run" / "checkpoints"
        assert wait_until(lambda: len(list(checkpoints.glob("*.safetensors"))) > 1, 60)
        family = [pid for rank in victims.values() for pid in [rank, *children_of(rank)]]
        os.kill(victims[1], signal.SIGKILL)
        assert wait_until(lambda: not alive(family), 60)
        # Torchrun starts both anew; a signal to one of them stops both, and that is no failure.
        anew = rank_processes(process, since=set(victims.values()))
        log = tmp_path / "run" / "metrics.jsonl"
        length = len(log.read_text().splitlines())
        assert wait_until(lambda: len(log.read_text().splitlines()) > length + 2, 60)
        os.kill(anew[1], signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, output
    messages = [line for line in output.splitlines() if line.startswith("error: Rank 0 lost")]
    assert len(messages) == 1
    main, other = results(tmp_path)
    assert main["first"] == other["first"]
    assert main["first"]["resumes"] == 1
    assert main["interrupted"]
    assert other["interrupted"]
    assert main["digest"] == other["digest"]
    assert max(checkpoints.iterdir()).name == f"training_{main['steps']:012d}.safetensors"
    steps = [json.loads(line)["steps"] for line in log.read_text().splitlines()]
    assert steps == sorted(set(steps))
    assert not alive(list(anew.values()))
    assert wait_until(lambda: shared_memory() <= before, 10)


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_ranks_that_are_left_alone_end_by_themselves(tmp_path, victim):
    settings = "total_steps=1000000", "distributed.timeout_s=10"
    processes = by_hand(tmp_path, "train", *settings, stdout=subprocess.DEVNULL)
    try:
        checkpoints = tmp_path / "run" / "checkpoints"
        assert wait_until(lambda: any(checkpoints.glob("*.safetensors")), 60)
        processes[victim].kill()
        _, error = processes[1 - victim].communicate(timeout=40)
        assert processes[1 - victim].returncode == 2
        assert f"error: Rank {1 - victim} lost the other processes" in error
        assert "Traceback" not in error
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


def test_one_process_has_nobody_to_talk_to():
    group = SingleProcess()
    assert group.main
    assert group.average([], {"loss": 2.0}) == {"loss": 2.0}
    assert group.gather([1]) == [[1]]
    assert group.ask_main(lambda: "here") == "here"
    assert group.any(True)
    assert not group.any(False)
    assert group.hears_stop(True)
    assert group.agrees_to_stop(True)
    assert type(join_group("cpu", DistributedConfig())) is SingleProcess


def test_one_process_alone_is_never_preempted(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with pytest.raises(UserError, match="torchrun") as caught:
        join_group("cpu", DistributedConfig(preemption="optimal"))
    assert "\n" not in str(caught.value)


def test_averages_are_over_those_who_know_a_key():
    assert average_dictionaries([{"a": 1.0, "b": 2.0}, {"a": 3.0}]) == {"a": 2.0, "b": 2.0}
