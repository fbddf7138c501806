import numpy as np
import pytest
import torch
from gymnasium import spaces

from tests.helpers.toy_spaces import BOX, MIXED, VECTOR
from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.heads import Gaussian
from ver.networks.policy import ActorCritic


def test_gaussian_density_matches_torch_and_scales_with_the_box():
    mean, log_std = torch.tensor([[0.2, -0.4]]), torch.tensor([-0.5, 0.3])
    head = Gaussian(mean, log_std, torch.tensor([1.0, 0.0]), torch.tensor([2.0, 0.5]))
    reference = torch.distributions.Normal(mean, log_std.exp())
    scaled = torch.tensor([[0.3, 0.9]])
    actions = scaled * head.half_range + head.centre
    torch.testing.assert_close(head.log_prob(actions), reference.log_prob(scaled).sum(-1))
    torch.testing.assert_close(head.entropy(), reference.entropy().sum(-1))
    torch.testing.assert_close(head.mode(), torch.tensor([[1.4, -0.2]]))


@pytest.mark.parametrize("log_std", ["free", "state"])
def test_spread_starts_where_it_is_told_and_keeps_its_bounds(log_std):
    config = NetworkConfig(hidden_size=8, log_std=log_std, initial_log_std=-9.0)
    policy = ActorCritic(VECTOR, BOX, config)
    assert policy.head(torch.zeros(1, 8)).log_std.max() == -5.0


@pytest.mark.parametrize(("threshold", "on"), [(0.5, False), (0.3, False), (0.2, True)])
def test_the_mode_turns_a_binary_action_on_from_its_threshold_on(threshold, on):
    """A mean of -0.5 in scaled units is the upper end with a probability of a quarter."""
    box = spaces.Box(np.float32([-1, -1]), np.float32([1, 1]))
    settings = {"initial_mean": [-0.5, -0.5], "binary_actions": [1], "binary_threshold": threshold}
    distribution = ActorCritic(VECTOR, box, NetworkConfig(hidden_size=8, **settings)).head(
        torch.zeros(1, 8)
    )
    torch.testing.assert_close(distribution.mode(), torch.tensor([[-0.5, 1.0 if on else -1.0]]))
    with pytest.raises(UserError, match="binary_threshold must lie between 0 and 1"):
        ActorCritic(VECTOR, box, NetworkConfig(hidden_size=8, binary_threshold=1.0))


def test_means_start_where_they_are_told():
    box = spaces.Box(np.float32([-2, 0]), np.float32([2, 1]))
    config = NetworkConfig(hidden_size=8, initial_mean=[0.5, -0.9])
    mode = ActorCritic(VECTOR, box, config).head(torch.zeros(1, 8)).mode()
    torch.testing.assert_close(mode, torch.tensor([[1.0, 0.05]]))
    mode = ActorCritic(VECTOR, box, NetworkConfig(hidden_size=8)).head(torch.zeros(1, 8)).mode()
    torch.testing.assert_close(mode, torch.tensor([[0.0, 0.5]]))


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([0.5], "each of the Box's 2 actions, found 1"),
        ([0.0, 1.0], "between -1 and 1"),
        ({"stop": 0.5}, "a list of numbers, found {'stop': 0.5}"),
        ([0.0, "up"], "a list of numbers"),
    ],
)
def test_impossible_initial_means_are_refused(values, complaint):
    with pytest.raises(UserError, match=complaint):
        ActorCritic(VECTOR, BOX, NetworkConfig(hidden_size=8, initial_mean=values))


def make_partly_binary():
    """A policy over Box dimensions in [-2, 2], [0, 1] (binary) and [-1, 1], and its distribution."""
    torch.manual_seed(0)
    box = spaces.Box(np.float32([-2, 0, -1]), np.float32([2, 1, 1]))
    means = [0.0, 0.6, 0.0]
    config = NetworkConfig(
        hidden_size=8, memory="lstm", initial_mean=means, initial_log_std=0.0, binary_actions=[1]
    )
    policy = ActorCritic(VECTOR, box, config)
    with torch.no_grad():
        return policy, policy.head(torch.zeros(20_000, 8))


def test_a_binary_action_takes_either_end_as_often_as_its_mean_says():
    actions = make_partly_binary()[1].sample()
    assert set(actions[:, 1].tolist()) == {0.0, 1.0}
    assert actions[:, 1].mean() == pytest.approx(0.8, abs=0.01)  # 0.6 between -1 and 1
    assert len(set(actions[:, 0].tolist())) > 10_000  # the others stay Gaussian


def test_a_binary_action_has_the_probabilities_of_a_bernoulli():
    distribution = make_partly_binary()[1]
    bernoulli = torch.distributions.Bernoulli(torch.tensor(0.8))
    normal = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
    for upper in (0.0, 1.0):
        actions = torch.tensor([[1.0, upper, -0.3]]).expand(20_000, 3)
        expected = normal.log_prob(torch.tensor([0.5, -0.3])).sum()
        expected = expected + bernoulli.log_prob(torch.tensor(upper))
        torch.testing.assert_close(distribution.log_prob(actions)[0], expected)
    entropy = normal.entropy().sum() + bernoulli.entropy()
    torch.testing.assert_close(distribution.entropy()[0], entropy)
    torch.testing.assert_close(distribution.mode()[0], torch.tensor([0.0, 1.0, 0.0]))


def test_a_policy_with_binary_actions_evaluates_as_it_acted():
    policy, _ = make_partly_binary()
    x = {"x": torch.randn(6, 3)}
    state, previous = policy.initial_state(6), policy.initial_actions(6)
    with torch.no_grad():
        acted = policy.act(x, state, previous, torch.zeros(6))
    evaluated = policy.evaluate(
        x, state, previous, torch.zeros(6), acted.actions, torch.tensor([6])
    )
    torch.testing.assert_close(evaluated.log_probs, acted.log_probs)
    (gradient,) = torch.autograd.grad(evaluated.log_probs.sum(), [policy.head.mean.weight])
    assert (gradient.abs().sum(1) > 0).all()


@pytest.mark.parametrize("indices", [[2], [-1], [0, 0]])
def test_impossible_binary_actions_are_refused(indices):
    with pytest.raises(UserError, match="different numbers from 0 to 1"):
        ActorCritic(VECTOR, BOX, NetworkConfig(hidden_size=8, binary_actions=indices))


@pytest.mark.parametrize("space", [spaces.Discrete(3), spaces.Tuple([spaces.Discrete(3)] * 2)])
@pytest.mark.parametrize("setting", [{"binary_actions": [7]}, {"initial_mean": ["up"]}])
def test_settings_of_a_box_are_refused_where_there_is_none(space, setting):
    with pytest.raises(UserError, match=f"network.{next(iter(setting))} is for actions of a Box"):
        ActorCritic(VECTOR, space, NetworkConfig(hidden_size=8, **setting))
    mixed = spaces.Tuple([spaces.Box(-1, 1, (1,)), spaces.Discrete(3)])
    ActorCritic(VECTOR, mixed, NetworkConfig(hidden_size=8, initial_mean=[0.5]))


def test_composite_distribution_is_the_product_of_its_parts():
    torch.manual_seed(0)
    policy = ActorCritic(VECTOR, MIXED, NetworkConfig(hidden_size=8))
    distribution = policy.head(torch.randn(6, 8))
    press, aim, mode = distribution.parts
    actions = distribution.sample()
    assert (actions.shape, actions.dtype) == ((6, 5), torch.float32)
    choices = actions[:, [0, 1, 4]]
    assert torch.equal(choices, choices.round())
    normal = torch.distributions.Normal(aim.mean, aim.log_std.exp())
    tables = [
        torch.distributions.Categorical(logits=t) for t in (*press.log_probs, *mode.log_probs)
    ]
    scaled = (actions[:, 2:4] - aim.centre) / aim.half_range
    expected = normal.log_prob(scaled).sum(-1)
    for table, choice in zip(tables, choices.T, strict=True):
        expected = expected + table.log_prob(choice)
    torch.testing.assert_close(distribution.log_prob(actions), expected)
    entropy = normal.entropy().sum(-1) + sum(table.entropy() for table in tables)
    torch.testing.assert_close(distribution.entropy(), entropy)
    mode_row = distribution.mode()
    torch.testing.assert_close(mode_row[:, 2:4], aim.mode())
    assert torch.equal(mode_row[:, 4], tables[2].probs.argmax(-1).float())
