"""All tasks by name."""

import json

import pytest

from locomotion.flagrun import FlagrunWorlds
from locomotion.paper import TABLE_4
from locomotion.tasks import TASKS, kind_of
from locomotion.worlds import LocomotionWorlds
from ver.errors import UserError
from ver.eval import main as evaluate
from ver.train import main as train

SMALL = (
    *("collect.num_environments=4", "collect.rollout_length=8", "ppo.epochs=1", "total_steps=64"),
    *("ppo.mini_batches=2", "learner_threads=1", "tensorboard=false", "log_interval_s=0"),
    *("env.threads=1", "env.episode_length=6"),
)


def test_each_has_worlds_and_the_papers_settings():
    assert list(TASKS) == ["ant", "humanoid", "humanoid_flagrun", "humanoid_terrain"]
    assert set(TASKS) == set(TABLE_4)
    for name in TASKS:
        assert kind_of(name)(name, threads=1).settings()
    assert kind_of("ant") is LocomotionWorlds
    assert kind_of("humanoid_flagrun") is FlagrunWorlds


def test_a_name_that_there_is_not_is_one_line():
    told = "locomotion has no 'bee'; choose ant, humanoid, humanoid_flagrun, humanoid_terrain"
    with pytest.raises(UserError, match=told):
        kind_of("bee")


@pytest.mark.parametrize("name", ["humanoid_flagrun", "humanoid_terrain"])
def test_a_short_training_runs_and_is_judged(name, tmp_path):
    run = tmp_path / "run"
    assert train([f"locomotion:{name}", f"run={run}", *SMALL]) == 0
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    told = rows[-1]
    assert told["steps"] == 64
    assert {"episode/speed", "episode/flags", "episode/fell"} <= told.keys()
    assert evaluate([str(run), "--episodes", "2", "--json", str(tmp_path / "told.json")]) == 0
    assert json.loads((tmp_path / "told.json").read_text())["length"] == [6, 6]
