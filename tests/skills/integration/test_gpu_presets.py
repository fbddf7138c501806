"""preset=gpu and preset=paper: they start, and learn from a rollout of Pick."""

import math

import pytest

from skills.settings import make_environments
from skills.train import load_settings
from tests.helpers.devices import GPU
from tests.helpers.small_runs import logged
from ver import Trainer

# In few homes, which are made within seconds
WORDS = ("split=val", "homes=classic", "starts.paths=[]", "trainer.tensorboard=false")
TINY = ("trainer.collect.num_environments=2", "trainer.collect.rollout_length=8")


@pytest.mark.parametrize("rules", ["ours", "hab"])
@pytest.mark.parametrize("preset", ["gpu", "paper"])
@pytest.mark.parametrize(
    "device", [pytest.param("cpu", marks=pytest.mark.slow), pytest.param("cuda", marks=GPU)]
)
def test_a_preset_learns_from_a_rollout_of_pick(tmp_path, preset, rules, device):
    words = [f"preset={preset}", f"rules={rules}", *WORDS, *(TINY if device == "cpu" else ())]
    words += [f"trainer.device={device}", "trainer.total_steps=1", "trainer.log_interval_s=0"]
    settings = load_settings("pick", words)
    collect = settings.trainer.collect
    trainer = Trainer(settings.trainer, make_environments(settings), tmp_path)
    assert trainer.policy.device.type == device
    trainer.train()
    assert trainer.steps == collect.num_environments * collect.rollout_length
    (row,) = logged(tmp_path)
    assert all(math.isfinite(value) for value in row.values())
    assert row["loss/gradient_norm"] > 0.0
