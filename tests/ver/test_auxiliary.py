import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from tests.helpers.drawn import part_of
from tests.helpers.ppo_updates import filled, norm, one_update
from ver.auxiliary import CPCA, draw_negatives
from ver.config import CPCAConfig, NetworkConfig, PPOConfig
from ver.errors import UserError
from ver.mini_batches import pack
from ver.ppo import PPO

BOX = spaces.Box(-2, 2, (2,), np.float32)
MIXED = spaces.Tuple([BOX, spaces.Discrete(3)])
NETWORK = NetworkConfig(hidden_size=5, visual_features=4)


def make(space=BOX, **changes) -> CPCA:
    values = {"steps": 3, "starts": 0, "horizons": 0, "negatives": 2, "hidden_size": 6} | changes
    return CPCA(CPCAConfig(action_features=3, **values), NETWORK, space)


def batch(lengths, space=BOX, seed=0):
    """Random packed sequences; also the order in which steps (sequence, time) are packed."""
    torch.manual_seed(seed)
    lengths = sorted(lengths, reverse=True)
    order = [(s, t) for t in range(lengths[0]) for s in range(len(lengths)) if t < lengths[s]]
    sizes = torch.tensor([sum(length > t for length in lengths) for t in range(lengths[0])])
    total = len(order)
    actions = torch.randn(total, 2)
    if isinstance(space, spaces.Discrete):
        actions = torch.randint(int(space.n), (total, 1))
    elif isinstance(space, spaces.Tuple):
        actions = torch.cat([actions, torch.randint(3, (total, 1)).float()], -1)
    return order, (torch.randn(total, 5), torch.randn(total, 4), actions, sizes)


def fixed_negatives(targets, total, count):
    """Stands in for the draw: the steps that follow the true one, around the mini-batch."""
    return (targets[:, None] + torch.arange(1, count + 1)) % total


def slow_loss(cpca, order, outputs, images, actions, negatives):
    """The definition with loops over sequences, steps and horizons."""
    at = {step: position for position, step in enumerate(order)}
    terms = []
    for (sequence, t), position in at.items():
        hidden = torch.tanh(cpca.begin(outputs[position]))[None, None]
        for k in range(1, cpca.config.steps + 1):
            if (sequence, t + k) not in at:
                break
            action = actions[at[sequence, t + k - 1]][None]
            _, hidden = cpca.predict(cpca.embed_action(action, torch.ones(1))[None], hidden)
            true = at[sequence, t + k]

            def judge(image, hidden=hidden):
                joined = cpca.from_prediction(hidden[0, 0]) + cpca.from_image(images[image])
                return cpca.judge(joined)[0]

            term = -functional.logsigmoid(judge(true))
            wrong = [(true + n + 1) % len(order) for n in range(negatives)]
            for image in wrong:
                term = term - torch.log(1 - torch.sigmoid(judge(image))) / negatives
            terms.append(term)
    return torch.stack(terms).mean()


@settings(max_examples=part_of(25))
@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=4).filter(lambda lengths: max(lengths) > 1),
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from([BOX, spaces.Discrete(4), MIXED]),
)
def test_loss_equals_its_definition_in_loops(lengths, steps, negatives, space):
    order, arguments = batch(lengths, space)
    cpca = make(space, steps=steps, negatives=negatives)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ver.auxiliary.draw_negatives", fixed_negatives)
        loss = cpca(*arguments)
    torch.testing.assert_close(loss, slow_loss(cpca, order, *arguments[:3], negatives))


def test_packed_mini_batches_of_the_rollout_fit():
    packed = pack(np.array([0, 10, 20]), np.array([2, 5, 5]))
    order, arguments = batch([5, 5, 2])
    assert list(arguments[3]) == list(packed.batch_sizes)
    # Positions of the real packing name sequence and step: 10 + t, 20 + t, 0 + t.
    assert [(list(packed.heads).index(p - p % 10), p % 10) for p in packed.positions] == order


def test_pairs_stay_inside_their_sequence():
    order, (*_, sizes) = batch([6, 3, 1])
    starts, steps, targets = make(steps=4).choose_pairs(sizes)
    pairs = {
        (order[starts[index]], order[target])
        for (_, index), target in zip(steps.tolist(), targets[:, 0].tolist(), strict=True)
    }
    lengths = {0: 6, 1: 3, 2: 1}
    assert pairs == {
        ((s, t), (s, t + k))
        for s, length in lengths.items()
        for t in range(length)
        for k in range(1, 5)
        if t + k < length
    }


def test_starts_and_horizons_limit_what_is_judged():
    order, (*_, sizes) = batch([40, 30, 20])
    torch.manual_seed(1)
    starts, steps, targets = make(steps=10, starts=4, horizons=2).choose_pairs(sizes)
    assert len(starts) == len(set(starts.tolist())) == 4 * 3
    assert len(steps) == len({tuple(pair) for pair in steps.tolist()}) == 2 * len(starts)
    for (k, index), target in zip(steps.tolist(), targets[:, 0].tolist(), strict=True):
        sequence, t = order[starts[index]]
        assert order[target] == (sequence, t + k + 1)


def test_negatives_come_from_the_whole_mini_batch_but_never_the_target():
    torch.manual_seed(0)
    negatives = draw_negatives(torch.tensor([0, 3, 4]), 5, 400)
    assert [set(row.tolist()) for row in negatives] == [{1, 2, 3, 4}, {0, 1, 2, 4}, {0, 1, 2, 3}]


def test_what_lies_past_a_sequences_end_has_no_influence():
    order, (outputs, images, actions, sizes) = batch([6, 4, 4, 1])
    last = [p for p, (s, t) in enumerate(order) if t == [6, 4, 4, 1][s] - 1]
    cpca = make()
    outputs.requires_grad_()
    losses = []
    for replacement in (0.0, 1.0, -3.0):
        # Neither the last action of a sequence nor the core's last output predicts anything.
        actions, before = actions.clone(), outputs.detach().clone()
        actions[last] = replacement
        before[last] = replacement
        torch.manual_seed(3)
        losses.append(float(cpca(before, images, actions, sizes).detach()))
    assert losses[0] == losses[1] == losses[2]
    # A prediction depends on its own sequence's actions only.
    predictions = cpca.predictions(outputs, actions, torch.tensor([0]), sizes)
    other = actions.clone()
    other[[p for p, (s, _) in enumerate(order) if s != 0]] = 9.0
    again = cpca.predictions(outputs, other, torch.tensor([0]), sizes)
    torch.testing.assert_close(predictions, again)


def test_nothing_to_predict_is_a_loss_of_zero_with_gradients():
    _, (outputs, images, actions, sizes) = batch([1, 1])
    cpca = make()
    loss = cpca(outputs, images, actions, sizes)
    assert float(loss.detach()) == 0.0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, cpca.parameters()))


def test_gradients_reach_all_networks_the_core_and_the_images():
    _, (outputs, images, actions, sizes) = batch([6, 4], MIXED)
    cpca = make(MIXED)
    outputs.requires_grad_()
    images.requires_grad_()
    cpca(outputs, images, actions, sizes).backward()
    for name, parameter in cpca.named_parameters():
        assert parameter.grad.abs().max() > 0, name
    assert outputs.grad.any(-1).sum() == 5 + 3  # all but the last steps
    assert images.grad.any(-1).sum() > 0


@pytest.mark.parametrize(
    ("space", "shuffled"),
    [
        *(pytest.param(one, False, marks=pytest.mark.slow) for one in (BOX, spaces.Discrete(4))),
        *((MIXED, False), (MIXED, True)),
    ],
)
def test_learns_a_future_that_the_actions_decide(space, shuffled):
    """Each image shows the last action; the core's output says nothing. Chance is 2 log 2."""
    torch.manual_seed(0)
    cpca = make(space, steps=2, hidden_size=24, negatives=4)
    optimiser = torch.optim.Adam(cpca.parameters(), lr=1e-2)
    losses = []
    for seed in range(120):
        order, (outputs, images, actions, sizes) = batch([6] * 12, space, seed)
        images, outputs = torch.zeros_like(images), torch.zeros_like(outputs)
        at = {step: position for position, step in enumerate(order)}
        for (s, t), position in at.items():
            # At an episode's start some action's image too: another kind would give it away.
            shown = actions[at[s, t - 1] if t else at[s, 5]].float()
            images[position, : len(shown)] = shown.clamp(-2, 2)
        if shuffled:
            actions = actions[torch.randperm(len(actions))]
        loss = cpca(outputs, images, actions, sizes)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    chance = 2 * np.log(2)
    end = np.mean(losses[-15:])
    assert (end > 0.97 * chance) if shuffled else (end < 0.75 * chance)


def cpca_config(**changes) -> PPOConfig:
    cpca = CPCAConfig(enabled=True, steps=3, hidden_size=6, max_gradient_norm=0.0, **changes)
    return PPOConfig(max_gradient_norm=0.0, cpca=cpca)


def test_cpca_adds_its_scaled_gradient_to_the_policys():
    plain = one_update(*filled(images=True), PPOConfig(max_gradient_norm=0.0))
    half, whole = (
        one_update(*filled(images=True), cpca_config(scale=scale)) for scale in (0.5, 1.0)
    )
    for name, move in plain.items():
        torch.testing.assert_close(
            whole[name] - move, 2 * (half[name] - move), atol=2e-5, rtol=1e-3
        )
    assert not torch.allclose(
        plain["policy/encoder.project.0.weight"], half["policy/encoder.project.0.weight"]
    )
    torch.testing.assert_close(plain["policy/critic.weight"], half["policy/critic.weight"])
    assert norm(half, "cpca") > 0


def test_cpcas_own_gradient_is_cut_apart_from_the_policys():
    free = one_update(*filled(images=True), cpca_config())
    config = cpca_config()
    config.cpca.max_gradient_norm = 1e-3
    cut = one_update(*filled(images=True), config)
    assert norm(cut, "cpca") == pytest.approx(1e-3, rel=1e-3)
    assert norm(cut, "policy") == pytest.approx(norm(free, "policy"), rel=1e-4)
    # Nor does a large gradient of CPC|A leave less of the limit to the policy.
    config = cpca_config()
    config.max_gradient_norm = 1e-3
    other = one_update(*filled(images=True), config)
    assert norm(other, "policy") == pytest.approx(1e-3, rel=1e-3)
    assert norm(other, "cpca") == pytest.approx(norm(free, "cpca"), rel=1e-4)


def test_cpca_learns_beside_ppo_and_is_restored():
    policy, buffer = filled(images=True)
    config = cpca_config()
    ppo = PPO(policy, config, threads=2)
    numbers = ppo.learn(buffer, np.random.default_rng(0))
    assert 0 < numbers["cpca_loss"] < 3
    again = PPO(policy, config)
    again.load_state(ppo.state(), "here")
    for name, value in ppo.state().items():
        assert torch.equal(again.state()[name], value)
    with pytest.raises(UserError, match=r"here was trained with ppo.cpca.enabled;"):
        PPO(policy, PPOConfig()).load_state(ppo.state(), "here")


def test_cpca_without_images_is_an_error_of_one_line():
    with pytest.raises(UserError, match="no image") as caught:
        PPO(filled()[0], cpca_config())
    assert "\n" not in str(caught.value)
