import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from tests.helpers.drawn import part_of
from tests.helpers.plain_ppo import plain_loss
from tests.helpers.ppo_updates import filled, norm, one_update
from ver.config import (
    FORMER_DEFAULTS,
    EntropyConfig,
    PPOConfig,
    TrainerConfig,
    merge_config,
)
from ver.errors import UserError
from ver.experience import make_experience
from ver.mini_batches import cut_mini_batches
from ver.ppo import PPO

pytestmark = pytest.mark.usefixtures("small_shards")


@pytest.mark.parametrize(("target", "learned"), [(50.0, True), (-50.0, True), (50.0, False)])
def test_learning_moves_the_entropy_coefficient_towards_the_target(target, learned):
    policy, buffer = filled()
    entropy = EntropyConfig(target=target, initial=0.01, learned=learned)
    ppo = PPO(policy, PPOConfig(entropy=entropy))
    ppo.learn(buffer, np.random.default_rng(0))
    if not learned:
        assert ppo.entropy.value == 0.01
    else:
        assert (ppo.entropy.value > 0.01) == (target > 0)
        assert ppo.entropy.value != pytest.approx(0.01)


@pytest.mark.parametrize(("target", "bound"), [(50.0, 1.0), (-50.0, 1e-4)])
def test_learning_keeps_the_entropy_coefficient_at_its_bound(target, bound):
    policy, buffer = filled()
    ppo = PPO(policy, PPOConfig(entropy=EntropyConfig(target=target, initial=bound, learned=True)))
    ppo.learn(buffer, np.random.default_rng(0))
    assert ppo.entropy.value == pytest.approx(bound, rel=1e-6)


@hypothesis.settings(max_examples=part_of(25))
@hypothesis.given(
    core=st.sampled_from(["lstm", "gru", "none"]),
    layers=st.integers(1, 2),
    seed=st.integers(0, 99),
    longest=st.sampled_from([0, 1, 4, 7]),
    parts=st.integers(1, 4),
    threads=st.integers(1, 3),
)
def test_packed_evaluation_equals_acting_step_by_step(core, layers, seed, longest, parts, threads):
    """Pieces that start in mid-episode too, cut by length, by mini-batch or by thread."""
    policy, buffer = filled(core, seed, layers)
    experience = make_experience(buffer, 0.99, 0.95, 1.0, longest)
    rng = np.random.default_rng(seed)
    batches = cut_mini_batches(experience.starts, experience.lengths, parts, rng)
    for batch in [shard for whole in batches for shard in whole.shards(threads)]:
        rows = experience.slots[batch.positions]
        result = policy.evaluate(
            {"x": buffer.observations["x"][rows]},
            buffer.states[experience.slots[batch.heads]],
            buffer.previous_actions[rows],
            torch.as_tensor(~buffer.first[rows]),
            buffer.actions[rows],
            torch.as_tensor(batch.batch_sizes),
        )
        np.testing.assert_allclose(
            result.log_probs.detach(), buffer.log_probs[rows], rtol=1e-4, atol=1e-5
        )
        np.testing.assert_allclose(
            result.values.detach(), buffer.values[rows], rtol=1e-4, atol=1e-5
        )


@hypothesis.settings(max_examples=part_of(15))
@hypothesis.given(
    core=st.sampled_from(["lstm", "gru", "none"]),
    seed=st.integers(0, 99),
    longest=st.sampled_from([0, 3, 128]),
    clip_value=st.booleans(),
    normalise=st.booleans(),
    threads=st.integers(1, 2),
)
def test_an_updates_gradient_equals_a_plain_loops(
    core, seed, longest, clip_value, normalise, threads
):
    policy, buffer = filled(core, seed)
    config = PPOConfig(
        gamma=0.9,
        gae_lambda=0.8,
        target_kl=0.0,
        clip_value=clip_value,
        normalise_advantages=normalise,
        max_sequence_length=longest,
        max_gradient_norm=0.0,
        entropy=EntropyConfig(initial=0.3, learned=False),
    )
    with torch.no_grad():  # away from the acting policy, so that both clips bite
        for parameter in policy.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    ppo = PPO(policy, config, threads)
    ppo.optimizer = torch.optim.SGD(policy.parameters(), lr=1.0)
    weights = np.float32([1.0, 0.5, 0.25])
    experience = make_experience(buffer, config.gamma, config.gae_lambda, 1.0, longest)
    experience.weights = weights[buffer.environments[experience.slots]]
    rng = np.random.default_rng(seed)
    (batch,) = cut_mini_batches(experience.starts, experience.lengths, 1, rng)
    loss = plain_loss(policy, buffer, config, weights, 0.3)
    expected = torch.autograd.grad(loss, list(policy.parameters()))
    before = [parameter.detach().clone() for parameter in policy.parameters()]
    ppo.update(buffer, experience, ppo.packer.pack(buffer, experience.slots, batch))
    for (name, parameter), old, gradient in zip(
        policy.named_parameters(), before, expected, strict=True
    ):
        moved = old - parameter.detach()
        scale = float(gradient.abs().max()) + 1e-3
        assert float((moved - gradient).abs().max()) < 2e-3 * scale, name


def test_the_gradient_is_cut_to_its_limit_and_keeps_its_direction():
    free = one_update(*filled(), PPOConfig(max_gradient_norm=0.0))
    cut = one_update(*filled(), PPOConfig(max_gradient_norm=0.01))
    assert norm(free, "policy") > 0.1
    assert norm(cut, "policy") == pytest.approx(0.01, rel=1e-3)
    for name, move in free.items():
        torch.testing.assert_close(
            cut[name], move * 0.01 / norm(free, "policy"), atol=1e-6, rtol=1e-3
        )


def test_a_bfloat16_update_is_close_to_a_float32_update():
    config = PPOConfig(max_gradient_norm=0.0)
    moves = []
    for precision in ("none", "bfloat16"):
        policy, buffer = filled(images=True)
        policy.network_config.mixed_precision = precision
        move = one_update(policy, buffer, config)
        moves.append(torch.cat([part.flatten() for part in move.values()]))
    full, mixed = moves
    assert not torch.equal(full, mixed)
    assert torch.nn.functional.cosine_similarity(full, mixed, dim=0) > 0.999
    assert float((full - mixed).norm() / full.norm()) < 0.03


def test_the_papers_learner_is_one_list_away():
    """VER, table A1."""
    config = merge_config(TrainerConfig, [], FORMER_DEFAULTS).ppo
    assert (config.learning_rate, config.schedule, config.optimizer) == (2.5e-4, "cosine", "adam")
    assert (config.epochs, config.mini_batches, config.clip) == (3, 2, 0.2)
    assert (config.gamma, config.gae_lambda, config.value_coefficient) == (0.99, 0.95, 0.5)
    flags = (config.clip_value, config.normalise_advantages, config.scale_learning_rate)
    assert not any(flags)
    assert config.importance_weights
    assert config.max_importance_weight == 1.0
    entropy = config.entropy
    assert (entropy.learned, entropy.initial, entropy.target) == (True, 1e-3, 0.0)
    assert (entropy.minimum, entropy.maximum) == (1e-4, 1.0)


def test_threads_change_nothing_but_the_time():
    weights = []
    for threads in (1, 2):
        policy, buffer = filled()
        ppo = PPO(policy, PPOConfig(normalise_advantages=True, epochs=3, mini_batches=2), threads)
        assert len(shards_of(ppo, buffer)) == threads
        numbers = ppo.learn(buffer, np.random.default_rng(0))
        weights.append((policy.state_dict(), numbers["policy_loss"], ppo.updates))
    assert weights[0][2] == weights[1][2] == 6
    assert weights[0][1] == pytest.approx(weights[1][1], abs=1e-5)
    for name, value in weights[0][0].items():
        torch.testing.assert_close(value, weights[1][0][name], rtol=1e-3, atol=1e-5)


def shards_of(ppo, buffer):
    """The shards of a mini-batch of all steps."""
    rows = np.arange(60)  # all that `filled` fills
    (batch,) = cut_mini_batches(rows, np.ones_like(rows), 1, np.random.default_rng(0))
    return ppo.packer.pack(buffer, rows, batch).shards


@pytest.mark.parametrize(("images", "shards"), [(False, 1), (True, 2)])
def test_a_thread_gets_enough_to_do_where_there_are_no_images(monkeypatch, images, shards):
    monkeypatch.setattr("ver.ppo.LEAST_SHARD", 31)
    policy, buffer = filled(images=images)
    assert len(shards_of(PPO(policy, PPOConfig(), threads=2), buffer)) == shards
    monkeypatch.setattr("ver.ppo.LEAST_SHARD", 30)
    assert len(shards_of(PPO(policy, PPOConfig(), threads=3), buffer)) == 2 + (shards == 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_epoch_takes_each_mini_batch_once_and_packs_none_anew(threads):
    policy, buffer = filled()
    ppo = PPO(policy, PPOConfig(epochs=4, mini_batches=3), threads)
    taken = []

    def update(buffer, experience, batch):
        for shard, inputs in zip(batch.shards, batch.inputs, strict=True):
            slots = experience.slots[shard.positions]
            assert torch.equal(inputs["observations"]["x"], buffer.observations["x"][slots])
        taken.append(batch)
        return {}

    ppo.update = update
    ppo.learn(buffer, np.random.default_rng(1))
    epochs = [taken[i : i + 3] for i in range(0, 12, 3)]
    orders = set()
    for epoch in epochs:
        positions = np.concatenate([batch.positions for batch in epoch])
        assert sorted(positions) == list(range(60))
        assert {id(batch) for batch in epoch} == {id(batch) for batch in epochs[0]}
        orders.add(tuple(id(batch) for batch in epoch))
    assert len(orders) > 1


def test_the_adapted_learning_rate_is_below_the_schedules_and_is_restored():
    config = PPOConfig(learning_rate=1.0, schedule="cosine", target_kl=0.01)
    ppo = PPO(filled()[0], config)
    ppo.rate.adapt(0.0)
    ppo.set_progress(0.5)
    assert ppo.learning_rate == pytest.approx(0.15 * 0.5)
    other = PPO(filled()[0], config)
    other.load_state(ppo.state(), "a test")
    other.set_progress(0.5)
    assert other.learning_rate == ppo.learning_rate


def test_a_target_keeps_the_divergence_low():
    divergences = {}
    for target in (0.0, 0.001):
        policy, buffer = filled()
        config = PPOConfig(learning_rate=0.03, schedule="constant", epochs=8, target_kl=target)
        divergences[target] = PPO(policy, config).learn(buffer, np.random.default_rng(0))
    assert divergences[0.001]["approximate_kl"] < 0.3 * divergences[0.0]["approximate_kl"]


def test_first_update_is_on_policy():
    policy, buffer = filled()
    # Pieces of three steps start in mid-episode, so the stored states matter.
    ppo = PPO(policy, PPOConfig(epochs=1, mini_batches=1, max_sequence_length=3))
    numbers = ppo.learn(buffer, np.random.default_rng(0))
    assert abs(numbers["approximate_kl"]) < 1e-6
    assert numbers["clip_fraction"] == 0.0


def test_normaliser_matches_the_data_after_learning():
    policy, buffer = filled()
    PPO(policy, PPOConfig()).learn(buffer, np.random.default_rng(0))
    slots = make_experience(buffer, 0.99, 0.95, 1.0, 0).slots
    data = buffer.observations["x"][slots]
    torch.testing.assert_close(policy.normaliser.mean, data.mean(0))
    torch.testing.assert_close(policy.normaliser.variance, data.var(0, unbiased=False))


def test_a_gradient_that_is_not_finite_stops_with_advice():
    policy, buffer = filled()
    buffer.rewards[3] = np.nan
    with pytest.raises(UserError, match="learning_rate"):
        PPO(policy, PPOConfig()).learn(buffer, np.random.default_rng(0))


def test_one_rollout_learns_the_same_whatever_the_units_of_rewards():
    changed = []
    for unit in (1.0, 1000.0):
        policy, buffer = filled(core="none", vector_features=0)
        # As if the rewards had always been in this unit, and the policy known it
        policy.value_layer.variance.mul_(unit**2)
        for column in (buffer.rewards, buffer.values, buffer.final_values):
            column *= unit
        PPO(policy, PPOConfig()).learn(buffer, np.random.default_rng(0))
        changed.append(policy.state_dict())
    for name, tensor in changed[0].items():
        if name != "critic.variance":
            torch.testing.assert_close(changed[1][name], tensor, rtol=1e-3, atol=1e-4)
    variances = [weights["critic.variance"].item() for weights in changed]
    assert variances[1] == pytest.approx(1e6 * variances[0], rel=1e-3)


@pytest.mark.parametrize(
    ("core", "settings", "longest"),
    [
        ("none", {}, 1),
        ("none", {"shuffle_steps": False}, 5),
        ("lstm", {}, 5),
    ],
)
def test_without_memory_mini_batches_are_of_single_steps(core, settings, longest):
    policy, buffer = filled(core=core)
    config = PPOConfig(epochs=1, mini_batches=2, max_sequence_length=5, **settings)
    ppo = PPO(policy, config)
    taken = []

    def update(buffer, experience, batch):
        taken.append(batch.positions)
        assert max(shard.lengths.max() for shard in batch.shards) == longest
        return {}

    ppo.update = update
    ppo.learn(buffer, np.random.default_rng(1))
    assert sorted(np.concatenate(taken)) == list(range(60))
