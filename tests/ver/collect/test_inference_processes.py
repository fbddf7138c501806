"""Inference workers that hang or never start."""

from types import SimpleNamespace

import pytest

from tests.helpers.engine_world import ACTIONS, OBSERVATIONS
from ver.collect.inference_processes import InferenceProcesses, make_control
from ver.config import NetworkConfig
from ver.errors import UserError, WorkerCrashError
from ver.networks.policy import ActorCritic


@pytest.fixture
def watched(monkeypatch):
    """One inference worker that does nothing, its shared turns, and a clock [s] to be set."""
    control, clock = make_control(1, 1), [0.0]
    monkeypatch.setattr("ver.collect.inference_processes.time.monotonic", lambda: clock[0])
    helpers = InferenceProcesses(0, None, [], None, control, None, 1)  # pyright: ignore
    process = SimpleNamespace(name="inference worker 1", kill=lambda: None)
    helpers.watch(0, process)
    return helpers, control["turns"], clock


def look_until(helpers, clock, end: float) -> None:
    while clock[0] < end:
        clock[0] += 0.5
        helpers.check(20.0, 5.0)


def test_an_inference_worker_has_its_time_to_start_and_then_that_of_a_step(watched):
    helpers, turns, clock = watched
    look_until(helpers, clock, 20.0)
    turns[0] += 1
    look_until(helpers, clock, 25.5)
    with pytest.raises(WorkerCrashError, match="hung for more than 5 s"):
        look_until(helpers, clock, 26.0)


def test_an_inference_worker_that_never_starts_ends_the_run(watched):
    helpers, _, clock = watched
    with pytest.raises(UserError, match="inference worker 1 was not ready after 20 s; raise"):
        look_until(helpers, clock, 20.5)


def test_memory_that_cannot_be_shared_is_one_line(monkeypatch):
    def refused(*arguments):
        raise RuntimeError("CUDA error: operation not supported\nsome guesses")

    monkeypatch.setattr("ver.collect.inference_processes.start_process", refused)
    policy = ActorCritic(OBSERVATIONS, ACTIONS, NetworkConfig(hidden_size=4))
    told = (
        r"^memory of cpu cannot be shared with inference worker 1 \(CUDA error: .* supported\); set"
    )
    with pytest.raises(UserError, match=told):
        InferenceProcesses(1, policy, [], None, make_control(1, 1), None, 1)  # pyright: ignore


def test_time_in_which_all_were_suspended_is_no_hang(watched):
    helpers, turns, clock = watched
    turns[0] += 1
    helpers.check(20.0, 5.0)
    clock[0] += 3600.0
    helpers.check(20.0, 5.0)
    turns[0] += 1
    helpers.check(20.0, 5.0)


def test_a_limit_of_zero_waits_for_ever(watched):
    helpers, turns, clock = watched
    turns[0] += 1
    for _ in range(100):
        clock[0] += 1.0
        helpers.check(20.0, 0.0)
