"""PPO on PointNav in one file, with torch alone: `python examples/ppo.py [STEPS]`.

Read it from top to bottom, as CleanRL's. It sees the direction to the goal and no image, so it can only
learn to drive straight; `scripts/train_skill.sh pointnav` is the real thing.
"""

import sys

import gymnasium
import torch
from torch import nn

import nav  # noqa: F401 - makes the ids known

WORLDS, LENGTH, EPOCHS, BATCHES = 16, 128, 4, 4
GAMMA, LAMBDA, CLIP, ENTROPY, RATE = 0.99, 0.95, 0.2, 0.01, 1e-3


def features(observation: dict) -> torch.Tensor:
    """Logarithm of the distance, cosine and sine of the bearing [N, 3]."""
    polar = torch.as_tensor(observation["pointgoal_with_gps_compass"])
    direction = torch.as_tensor(observation["pointgoal_direction"])
    return torch.cat([(1.0 + polar[:, :1]).log(), direction], dim=1)


def main(steps: int = 200_000, seed: int = 0) -> list[float]:
    """Train; returns the mean reward of a step in each rollout."""
    torch.manual_seed(seed)
    envs = gymnasium.make_vec(
        "rearrange/PointNav-v0", WORLDS, "vector_entry_point", camera_size=16, max_steps=100
    )
    count = int(envs.single_action_space.n)
    actor = nn.Sequential(
        nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, count)
    )
    critic = nn.Sequential(
        nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)
    )
    optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=RATE)
    seen, means = features(envs.reset(seed=seed)[0]), []
    for rollout in range(max(1, steps // (WORLDS * LENGTH))):
        rows = []
        for _ in range(LENGTH):
            with torch.no_grad():
                chosen = torch.distributions.Categorical(logits=actor(seen))
                action = chosen.sample()
                row = [seen, action, chosen.log_prob(action), critic(seen)[:, 0]]
            observation, reward, terminated, truncated, _ = envs.step(action.numpy())
            over = torch.as_tensor(terminated | truncated)
            rows.append([*row, torch.as_tensor(reward, dtype=torch.float32), over])
            seen = features(observation)
        states, actions, old, values, rewards, overs = map(torch.stack, zip(*rows, strict=True))
        with torch.no_grad():
            following, advantage = critic(seen)[:, 0], torch.zeros(WORLDS)
        advantages = torch.zeros(LENGTH, WORLDS)
        for t in reversed(range(LENGTH)):  # generalised advantage estimation
            goes_on = 1.0 - overs[t].float()
            delta = rewards[t] + GAMMA * goes_on * following - values[t]
            advantages[t] = advantage = delta + GAMMA * LAMBDA * goes_on * advantage
            following = values[t]
        returns = (advantages + values).flatten()
        weights = ((advantages - advantages.mean()) / (advantages.std() + 1e-8)).flatten()
        states, actions, old = states.flatten(0, 1), actions.flatten(), old.flatten()
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(states)).chunk(BATCHES):
                chosen = torch.distributions.Categorical(logits=actor(states[batch]))
                ratio = (chosen.log_prob(actions[batch]) - old[batch]).exp()
                clipped = ratio.clamp(1.0 - CLIP, 1.0 + CLIP)
                gain = torch.min(ratio * weights[batch], clipped * weights[batch]).mean()
                error = (critic(states[batch])[:, 0] - returns[batch]).square().mean()
                loss = 0.5 * error - gain - ENTROPY * chosen.entropy().mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        means.append(float(rewards.mean()))
        print(f"{(rollout + 1) * WORLDS * LENGTH} steps: reward {means[-1]:.4f} a step", flush=True)
    envs.close()
    return means


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
