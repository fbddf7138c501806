"""A script that trains without `if __name__ == "__main__":` says so, in a line for each process."""

import os
import subprocess
import sys

import pytest

from tests.helpers import ROOT
from ver.collect.environment_worker import UNGUARDED

SCRIPT = """
from tests.helpers.toy_environments import RememberCue
from ver import Trainer, TrainerConfig, merge_config


def make(index, seed):
    return RememberCue()


config = merge_config(TrainerConfig(), [], ["total_steps=64", "collect.num_environments=2",
    "collect.environments_per_worker=1", "collect.rollout_length=16", "tensorboard=false"])
Trainer(config, make, "run").train()
"""


@pytest.mark.slow
def test_its_workers_tell_what_is_missing(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode != 0
    assert UNGUARDED in done.stderr
    assert "bootstrapping" not in done.stderr
