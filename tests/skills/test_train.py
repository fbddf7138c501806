"""Training from the command line."""

import json

from skills.train import main
from ver.checkpoint import load_policy

TINY = [
    "camera_size=40",
    "task.max_steps=10",
    "trainer.collect.num_environments=2",
    "trainer.collect.rollout_length=16",
    "trainer.network.hidden_size=8",
    "trainer.network.visual_features=8",
    "trainer.learner_threads=1",
    "trainer.tensorboard=false",
    "trainer.log_interval_s=1e9",
]


def test_the_batched_system_trains_pick(tmp_path):
    run = [*TINY, f"run={tmp_path}", "trainer.system=batched", "trainer.total_steps=64"]
    assert main(["pick", *run]) == 0
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["steps"] for row in rows] == [32, 64]
    last = rows[-1]
    # In 32 steps of each of two worlds, and most episodes run out of time.
    assert last["episodes"] >= 2 * 3
    assert last["episode/episode_length"] == last["episode/length"] <= 10
    assert last["episode/reward/distance"] != 0.0
    assert last["time/simulation_wait"] > 0.0
    assert load_policy(tmp_path / "policy.safetensors").metadata["skill"] == "pick"
