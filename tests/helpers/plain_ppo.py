"""PPO's loss once more, by loops over environments and steps."""

import itertools

import numpy as np
import torch


def plain_advantage(buffer, slots, index, gamma, gae_lambda) -> float:
    """Adds up what the definition names, step by step, until the episode or the rollout ends."""
    total, factor = 0.0, 1.0
    for now, after in itertools.pairwise(slots[index:]):
        outcome = buffer.outcomes[now]
        following = [buffer.values[after], 0.0, buffer.final_values[now]][outcome]
        total += factor * (buffer.rewards[now] + gamma * following - buffer.values[now])
        if outcome != 0:
            break
        factor *= gamma * gae_lambda
    return total


def plain_loss(policy, buffer, config, weights, coefficient):
    """PPO's loss by loops over environments and steps."""
    steps = []
    for environment in range(buffer.num_environments):
        slots = np.flatnonzero(buffer.environments == environment)
        state, age = None, 0
        for index, slot in enumerate(slots[:-1]):
            if buffer.first[slot]:
                state, age = torch.zeros(1, policy.state_size), 0
            elif state is None or age == config.max_sequence_length:
                state, age = buffer.states[slot][None], 0
            x = {"x": buffer.observations["x"][slot][None]}
            mask = torch.tensor([0.0 if buffer.first[slot] else 1.0])
            features = policy.features(x, buffer.previous_actions[slot][None], mask)
            output, state = policy.core.step(features, state)
            age += 1
            gae = plain_advantage(buffer, slots, index, config.gamma, config.gae_lambda)
            steps.append((slot, output, gae, weights[environment]))
    gains = np.array([gae for _, _, gae, _ in steps])
    terms = []
    for slot, output, gae, weight in steps:
        distribution, value = policy.head(output), policy.critic(output)[0, 0]
        ratio = torch.exp(
            distribution.log_prob(buffer.actions[slot][None])[0] - buffer.log_probs[slot]
        )
        gain = (gae - gains.mean()) / gains.std() if config.normalise_advantages else gae
        if gain > 0:
            surrogate = gain * (ratio if ratio < 1 + config.clip else 1 + config.clip)
        else:
            surrogate = gain * (ratio if ratio > 1 - config.clip else 1 - config.clip)
        old = float(buffer.values[slot])
        goal = gae + old
        error = (value - goal) ** 2
        if config.clip_value:
            near = old + torch.clamp(value - old, -config.clip, config.clip)
            error = max(error, (near - goal) ** 2)
        bonus = coefficient * distribution.entropy()[0]
        terms.append(weight * (config.value_coefficient * 0.5 * error - surrogate - bonus))
    return sum(terms) / len(terms)
