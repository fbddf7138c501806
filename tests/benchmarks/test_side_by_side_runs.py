"""One training of each library that is installed here."""

import subprocess
import sys

import pytest

from benchmarks.diary import read_diary
from benchmarks.side_by_side_runs import SYSTEMS, Asked, train_ver
from ver.public import ROOT

MODULES = {
    "ver_envpool": "envpool",
    "sb3": "stable_baselines3",
    "sb3_zoo": "rl_zoo3",
    "cleanrl": "cleanrl",
    "sample_factory": "sample_factory",
}


def test_ours_trains_on_the_environment_with_a_diary(tmp_path):
    asked = Asked("CartPole-v1", tmp_path, seed=1, steps=256, memory=True, cores=2)
    (tmp_path / "diary").mkdir()
    small = ("network.hidden_size=8", "collect.num_environments=2", "collect.rollout_length=64")
    train_ver(asked, "system=batched", "learner_threads=1", *small)
    diary = read_diary(tmp_path / "diary")
    assert (diary[:, 1] == 0).sum() == 2  # an environment each
    assert 0 < diary[:, 1].sum() <= 256
    config = (tmp_path / "run" / "config.yaml").read_text()
    assert "memory: lstm" in config


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_each_library_trains_as_a_command(tmp_path, system):
    if system in MODULES:
        pytest.importorskip(MODULES[system])
    words = ["--seed", "1", "--steps", "1024", "--cores", "2"]
    command = [sys.executable, "-m", "benchmarks.side_by_side_runs", system, "CartPole-v1"]
    subprocess.run([*command, str(tmp_path), *words], cwd=ROOT, check=True, timeout=300)
    diary = read_diary(tmp_path / "diary")
    assert diary[:, 1].sum() >= 512
