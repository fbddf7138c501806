"""A rollout as collection would fill it, and what one update does with it."""

from dataclasses import replace

import numpy as np
import torch
from gymnasium import spaces

from ver.config import NetworkConfig
from ver.experience import make_experience
from ver.mini_batches import cut_mini_batches
from ver.networks.policy import ActorCritic
from ver.ppo import PPO
from ver.rollout import RolloutBuffer


def filled(
    core: str = "lstm",
    seed: int = 0,
    layers: int = 1,
    images: bool = False,
    told: bool = False,
    **network,
) -> tuple[ActorCritic, RolloutBuffer]:
    """A buffer as collection would fill it, by one policy."""
    torch.manual_seed(seed)
    boxes = {"x": spaces.Box(-5, 5, (3,), np.float32)}
    if images:
        boxes["image"] = spaces.Box(0, 1, (36, 36, 1), np.float32)
    if told:
        boxes["told"] = spaces.Box(-5, 5, (2,), np.float32)
        network["critic_only"] = ["told"]
    observation = spaces.Dict(boxes)
    action = spaces.Box(-2, 4, (2,), np.float32)
    shape = {"hidden_size": 8, "visual_features": 6, "previous_action_features": 3} | network
    config = NetworkConfig(memory=core, layers=layers, **shape)
    policy = ActorCritic(observation, action, config)
    buffer = RolloutBuffer(observation, action, 3, 20, policy.state_size)
    rng = np.random.default_rng(seed)
    state = policy.initial_state(3)
    previous = policy.initial_actions(3)
    buffer.begin()
    while not buffer.full:
        slots = buffer.claim(3)  # the first rollout's are handed out from the front
        rows = slice(int(slots[0]), int(slots[0]) + 3)
        first = np.ones(3, bool) if rows.start == 0 else rng.random(3) < 0.15
        if rows.start:
            last = slice(rows.start - 3, rows.start)
            buffer.outcomes[last] = first * rng.integers(1, 3, 3)  # TERMINATED or TRUNCATED
            buffer.final_values[last] = rng.normal(size=3)
            buffer.rewards[last] = rng.normal(size=3)
        observations = {key: torch.rand(3, *box.shape) * 2 - 1 for key, box in boxes.items()}
        masks = torch.as_tensor(~first)
        with torch.no_grad():
            out = policy.act(observations, state, previous, masks)
        for key, column in buffer.observations.items():
            column[rows] = observations[key]
        buffer.states[rows] = state * masks[:, None]
        buffer.previous_actions[rows] = previous
        buffer.actions[rows] = out.actions
        buffer.log_probs[rows] = out.log_probs.numpy()
        buffer.values[rows] = out.values.numpy()
        buffer.first[rows] = first
        buffer.environments[rows] = np.arange(3)
        buffer.steps[rows] = rows.start // 3
        buffer.newest[:] = np.arange(rows.start, rows.stop)
        state, previous = out.state, out.actions
        buffer.written += 3
    return policy, buffer


def one_update(policy, buffer, config, optimizer=torch.optim.SGD) -> dict[str, torch.Tensor]:
    """How one update over everything moves all parameters, by their names."""
    ppo = PPO(policy, replace(config, target_kl=0.0))  # so that nothing lowers the rate of 1
    modules = {"policy": policy, "cpca": ppo.cpca, "estimator": ppo.estimator}
    named = {
        f"{name}/{path}": parameter
        for name, module in modules.items()
        if module is not None
        for path, parameter in module.named_parameters()
    }
    before = {name: parameter.detach().clone() for name, parameter in named.items()}
    ppo.optimizer = optimizer(ppo.parameters, lr=1.0)
    experience = make_experience(buffer, config.gamma, config.gae_lambda, 1.0, 0)
    rng = np.random.default_rng(0)
    (batch,) = cut_mini_batches(experience.starts, experience.lengths, 1, rng)
    torch.manual_seed(5)
    ppo.update(buffer, experience, ppo.packer.pack(buffer, experience.slots, batch))
    return {name: before[name] - parameter.detach() for name, parameter in named.items()}


def norm(moves: dict[str, torch.Tensor], prefix: str) -> float:
    parts = [move.norm() for name, move in moves.items() if name.startswith(prefix)]
    return float(torch.stack(parts).norm())
