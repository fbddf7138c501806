import math

import pytest
import torch

from ver.config import PPOConfig
from ver.ppo_loss import ppo_loss


def loss_of(config=None, **changes):
    values = {
        "log_probs": torch.log(torch.tensor([1.5, 0.5])),
        "old_log_probs": torch.zeros(2),
        "values": torch.tensor([1.0, 3.0]),
        "old_values": torch.zeros(2),
        "advantages": torch.tensor([2.0, -1.0]),
        "returns": torch.tensor([2.0, 0.0]),
        "weights": torch.tensor([1.0, 0.5]),
        "entropies": torch.tensor([1.0, 3.0]),
        "entropy_coefficient": 0.1,
    } | changes
    return ppo_loss(config or PPOConfig(), **values)


def test_loss_worked_by_hand():
    # surrogates: min(1.5*2, 1.2*2) = 2.4 and min(.5*-1, .8*-1) = -.8, the latter weighted by .5
    policy = -(2.4 - 0.4) / 2
    value = 0.5 * (1.0 + 0.5 * 9.0) / 2
    entropy = (1.0 + 1.5) / 2
    loss, numbers = loss_of()
    assert float(loss) == pytest.approx(policy + 0.5 * value - 0.1 * entropy)
    assert float(numbers["policy_loss"]) == pytest.approx(policy)
    assert float(numbers["value_loss"]) == pytest.approx(value)
    assert float(numbers["clip_fraction"]) == 1.0
    # mean of r - 1 - log r, which is never negative
    divergence = (0.5 - math.log(1.5) + -0.5 - math.log(0.5)) / 2
    assert float(numbers["approximate_kl"]) == pytest.approx(divergence)
    assert divergence > 0.0


def test_value_clipping_takes_the_larger_error():
    _, plain = loss_of(weights=torch.ones(2))
    _, clipped = loss_of(PPOConfig(clip_value=True), weights=torch.ones(2))
    # 1 is pulled back to 0.2 (error 1.8), 3 stays the larger error
    assert float(plain["value_loss"]) == pytest.approx(0.5 * (1 + 9) / 2)
    assert float(clipped["value_loss"]) == pytest.approx(0.5 * (1.8**2 + 9) / 2)


@pytest.mark.parametrize("clip_value", [False, True])
def test_values_errors_count_in_their_unit(clip_value):
    """Rewards in another unit change nothing where returns are normalised."""
    changes = {"values": torch.tensor([1.0, 3.0]), "returns": torch.tensor([2.0, 0.0])}
    scaled = {name: 50.0 * tensor for name, tensor in changes.items()}
    config = PPOConfig(clip_value=clip_value)
    loss, _ = loss_of(config, **changes)
    same, _ = loss_of(config, **scaled, value_unit=50.0)
    assert float(same) == pytest.approx(float(loss))
