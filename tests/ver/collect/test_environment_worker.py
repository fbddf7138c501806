import subprocess
import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from benchmarks.faulty_environments import Trails, trail_length
from tests.helpers import ROOT
from ver.collect import environment_worker
from ver.collect.environment_worker import (
    EnvironmentWorker,
    EnvironmentWorkerSpec,
    probe_spaces,
)
from ver.collect.episode_order import TRY, EpisodeOrder, episode_seed
from ver.collect.mailboxes import make_mailboxes


def test_environment_is_told_the_number_of_its_episode():
    told = []

    class Told(gymnasium.Env):
        def reset(self, *, seed=None, options=None):
            told.append((seed, options))
            return {}, {}

    worker = object.__new__(environment_worker.EnvironmentWorker)
    order = SimpleNamespace(order=EpisodeOrder(3))
    worker.spec, worker.first, worker.envs = order, 4, [Told(), Told()]
    worker.start(1, 7)
    assert told == [(episode_seed(3, 5, 7), {"episode_number": 7})]


def play(repeat_failed: float, well: bool, episodes: int = 200) -> tuple[list, list]:
    """Numbers and lives of the episodes that an environment plays, well or badly; and those told."""
    sent: list[tuple] = []
    reports = SimpleNamespace(send=sent.append)
    mailboxes = make_mailboxes(*probe_spaces(Trails(), 0), 1, 1)
    worker = EnvironmentWorker(
        EnvironmentWorkerSpec(
            "worker", Trails(), [0], EpisodeOrder(3, repeat_failed), mailboxes, reports, 0, 1.0, 0
        )
    )
    rows, told = mailboxes.arrays, []
    worker._reset(0)
    for _ in range(episodes):
        number, life = int(rows["episode"][0]), float(rows["observation/trail"][0, 1])
        told.append((number, life))
        for _ in range(trail_length(life)):
            rows["action"][0] = np.sign(life) * (1.0 if well else -1.0)
            worker._step(0)
    return told, [report[1][1] for report in sent]


@pytest.mark.parametrize(("chance", "well"), [(0.0, False), (0.6, True)])
def test_no_episode_begins_again_without_a_chance_or_where_none_fails(chance, well):
    played, told = play(chance, well)
    assert [number for number, _ in played] == told == list(range(1, 201))


def test_an_episode_that_failed_begins_again_as_it_was_by_chance():
    played, told = play(0.6, well=False)
    numbers = np.array([number % TRY for number, _ in played])
    assert set(np.diff(numbers)) == {0, 1}  # the same one again, or the next
    assert 0.5 < (np.diff(numbers) == 0).mean() < 0.7
    assert len({number for number, _ in played}) == 200  # each try is an episode of its own
    lives = {(number % TRY, life) for number, life in played}
    assert len(lives) == numbers[-1]  # that begins as the first did
    assert told == list(range(1, max(told) + 1))  # and is not told of
    assert play(0.6, well=False) == (played, told)


def test_an_environment_worker_loads_no_torch():
    code = "import sys, ver.collect.environment_worker; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
