import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from ver.config import PPOConfig
from ver.errors import UserError
from ver.optimisers import (
    Adam,
    AdaptiveRate,
    Lamb,
    learning_rate_scale,
    make_optimiser,
    scheduled_rate,
)


def moved(weight, gradient, **settings) -> np.ndarray:
    """One step of Lamb with lr 0.1 and no guard in the denominator."""
    parameter = torch.nn.Parameter(torch.tensor(weight))
    parameter.grad = torch.tensor(gradient)
    optimiser = Lamb([parameter], **{"lr": 0.1, "eps": 0.0, "weight_decay": 0.0} | settings)
    optimiser.step()
    return parameter.detach().numpy()


def test_first_step_worked_by_hand():
    # Adam's first direction is the gradient's sign (1, -1), with decay 0.1 * (3, 4) added:
    # s = (1.3, -0.6), |s| = 1.431782, |w| = 5, so r = 3.492151
    r = 5 / math.sqrt(1.3**2 + 0.6**2)
    result = moved([[3.0, 4.0]], [[7.0, -2.0]], weight_decay=0.1)
    np.testing.assert_allclose(result, [[3 - 0.1 * r * 1.3, 4 + 0.1 * r * 0.6]], rtol=1e-6)


def test_trust_ratio_is_clipped_and_large_weights_count_as_ten():
    root = math.sqrt(2)
    # |w| = 5 over |s| = sqrt(2) is 3.54; rho = 0.5 allows 2
    np.testing.assert_allclose(moved([[3.0, 4.0]], [[1.0, 1.0]], rho=0.5), [[2.8, 3.8]], rtol=1e-6)
    # |w| = 0: the lower bound 0.01 lets a tensor leave zero at all
    np.testing.assert_allclose(moved([[0.0, 0.0]], [[1.0, 1.0]]), [[-1e-3, -1e-3]], rtol=1e-5)
    # |w| = 50 counts as 10
    step = 0.1 * 10 / root
    result = moved([[30.0, 40.0]], [[1.0, 1.0]])
    np.testing.assert_allclose(result, [[30 - step, 40 - step]], rtol=1e-6)


def test_vectors_move_as_adamw_moves_them():
    torch.manual_seed(0)
    one, two = (torch.nn.Parameter(torch.full((4,), 3.0)) for _ in range(2))
    lamb = Lamb([one], lr=0.05, eps=1e-5, weight_decay=0.1)
    adamw = torch.optim.AdamW([two], lr=0.05, eps=1e-5, weight_decay=0.1)
    for _ in range(20):
        gradient = torch.randn(4)
        for parameter, optimiser in ((one, lamb), (two, adamw)):
            parameter.grad = gradient.clone()
            optimiser.step()
    torch.testing.assert_close(one, two)


def test_many_steps_agree_with_the_formula_in_plain_numpy():
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(3, 2))
    parameter = torch.nn.Parameter(torch.tensor(weight))
    optimiser = Lamb([parameter], lr=0.02, eps=1e-5, weight_decay=0.01, rho=0.3)
    mean, square = np.zeros((3, 2)), np.zeros((3, 2))
    ratios = []
    for t in range(1, 30):
        gradient = rng.normal(size=(3, 2)) * t
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        adam = (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-5)
        s = adam + 0.01 * weight
        ratio = min(np.linalg.norm(weight), 10) / np.linalg.norm(s)
        ratios.append(ratio)
        weight = weight - 0.02 * min(max(ratio, 0.3), 1 / 0.3) * s
        parameter.grad = torch.tensor(gradient)
        optimiser.step()
    np.testing.assert_allclose(parameter.detach().numpy(), weight, rtol=1e-9)
    assert any(0.3 < ratio < 1 / 0.3 for ratio in ratios)


def test_lamb_finds_a_minimum():
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    x = torch.randn(64, 5)
    y = x @ torch.randn(5, 3) + 1.0
    optimiser = Lamb(model.parameters(), lr=0.02, weight_decay=0.0)
    for _ in range(300):
        loss = (model(x) - y).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.detach() < 0.01


def test_the_setting_chooses_the_optimiser():
    parameters = list(torch.nn.Linear(2, 2).parameters())
    assert isinstance(make_optimiser(PPOConfig(), parameters), torch.optim.Adam)
    config = PPOConfig(optimizer="lamb", lamb_weight_decay=0.5, lamb_rho=0.25, adam_epsilon=1e-3)
    lamb = make_optimiser(config, parameters)
    assert [group["rho"] for group in lamb.param_groups] == [0.25, 1.0]
    assert {(group["eps"], group["weight_decay"]) for group in lamb.param_groups} == {(1e-3, 0.5)}
    with pytest.raises(UserError, match="adam, lamb"):
        make_optimiser(PPOConfig(optimizer="sgd"), parameters)


@pytest.mark.parametrize(
    ("progress", "factor"), [(0.0, 1.0), (0.25, (1 + math.sqrt(0.5)) / 2), (0.5, 0.5), (1.0, 0.0)]
)
def test_cosine_and_constant_schedules(progress, factor):
    config = PPOConfig(learning_rate=2.0)
    assert scheduled_rate(config, progress, 256) == pytest.approx(2 * factor)
    config.schedule = "constant"
    assert scheduled_rate(config, progress, 4096) == 2.0


def test_the_rate_grows_with_the_root_of_the_batch_and_decays_to_the_base_by_half_time():
    assert learning_rate_scale(4096, 256) == 4.0
    config = PPOConfig(learning_rate=1.0, schedule="to_base", scale_learning_rate=True)
    rates = [scheduled_rate(config, progress, 4096) for progress in (-1, 0, 0.25, 0.5, 0.8, 2)]
    assert rates == pytest.approx([4.0, 4.0, 2.5, 1.0, 1.0, 1.0])
    config.schedule = "cosine"
    assert scheduled_rate(config, 0.5, 4096) == pytest.approx(2.0)
    config.scale_learning_rate = False
    assert scheduled_rate(config, 0.5, 4096) == pytest.approx(0.5)


def test_unknown_schedule_is_a_user_error():
    with pytest.raises(UserError, match="cosine"):
        scheduled_rate(PPOConfig(schedule="linear"), 0.1, 256)


def shares(target, divergences):
    rate = AdaptiveRate(target)
    found = [rate.share]
    for divergence in divergences:
        rate.adapt(divergence)
        found.append(rate.share)
    return found


def test_the_share_of_the_rate_follows_the_divergence():
    found = shares(0.01, [0.0, 0.004, 0.006, 0.019, 0.021, 0.5])
    assert found == pytest.approx([0.1, 0.15, 0.225, 0.225, 0.225, 0.15, 0.1])
    assert shares(0.01, 9 * [0.0])[-2:] == [1.0, 1.0]  # never above the schedule's
    assert shares(0.01, 9 * [1.0])[-2:] == pytest.approx([0.01, 0.01])
    assert AdaptiveRate(0.0).share == 1.0


def test_adam_is_pytorchs_to_the_bit():
    torch.manual_seed(0)
    one, two = (torch.nn.Parameter(torch.full((3, 4), 3.0)) for _ in range(2))
    ours, theirs = (
        Adam([one], 0.05, (0.8, 0.99), 1e-5),
        torch.optim.Adam([two], 0.05, (0.8, 0.99), 1e-5),
    )
    for _ in range(20):
        gradient = torch.randn(3, 4)
        for parameter, optimiser in ((one, ours), (two, theirs)):
            parameter.grad = gradient.clone()
            optimiser.step()
    assert torch.equal(one, two)
    assert not torch.equal(one, torch.full((3, 4), 3.0))


def test_first_step_of_a_process_does_not_import_the_compiler():
    program = """
import sys, torch
from ver.config import PPOConfig
from ver.optimisers import make_optimiser
for name in ("adam", "lamb"):
    parameter = torch.nn.Parameter(torch.ones(2, 2))
    optimiser = make_optimiser(PPOConfig(optimizer=name), [parameter])
    optimiser.zero_grad()
    parameter.grad = torch.ones(2, 2)
    optimiser.step()
    optimiser.load_state_dict(optimiser.state_dict())
    assert not torch.equal(parameter, torch.ones(2, 2))
    print("torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\nFalse\n", done.stderr
