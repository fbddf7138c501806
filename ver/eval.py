"""`python -m ver eval RUN`: judge the policy that `python -m ver train` has learned.

It plays whole episodes, each with a seed of its own, and takes the most likely actions, or with
`--sample` draws them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from interrupts.command_line import OneLineParser, output_file
from ver.action_space import to_environment_action
from ver.adapters.arrays import AnyEnvironment
from ver.checkpoint import load_policy, write_atomically
from ver.errors import UserError
from ver.networks.policy import ActorCritic
from ver.train import POLICY

MOST = 10**6  # episodes


def play_episodes(
    policy: ActorCritic, make: AnyEnvironment, episodes: int, seed: int, sample: bool = False
) -> dict[str, list[float]]:
    """Plays whole episodes.

    Args:
        policy: Acts.
        make: Makes the environment.
        episodes: How many.
        seed: Of the first one, and of sampled actions; the next episode has the next seed.
        sample: Draw actions, instead of the most likely ones.

    Returns:
        The return and the length of each episode.
    """
    torch.manual_seed(seed)
    env = make(0, seed)
    returns, lengths = [], []
    try:
        for episode in range(episodes):
            observation, _ = env.reset(seed=seed + episode)
            state, action = policy.initial_state(1), policy.initial_actions(1)
            total, length, ended = 0.0, 0, False
            while not ended:
                shown = {
                    key: torch.from_numpy(np.array(observation[key])[None]) for key in observation
                }
                with torch.inference_mode():
                    mask = torch.tensor([length > 0])
                    choice = policy.choose(shown, state, action, mask, deterministic=not sample)
                state, action = choice.state, choice.actions
                taken = to_environment_action(policy.action_space, action[0].numpy())
                observation, reward, terminated, truncated, _ = env.step(taken)
                total, length = total + float(reward), length + 1
                ended = terminated or truncated
            returns.append(total)
            lengths.append(float(length))
    finally:
        env.close()
    return {"return": returns, "length": lengths}


def load_run(path: Path) -> tuple[ActorCritic, AnyEnvironment]:
    """The policy of a run directory, or of a file, and what makes its environment.

    Raises:
        UserError: There is none, or it was trained otherwise.
    """
    file = path / POLICY if path.is_dir() else path
    policy = load_policy(file)
    if "environment" not in policy.metadata:
        raise UserError(
            f"{file} was not trained by python -m ver train: its file names no environment"
        )
    return policy, AnyEnvironment(policy.metadata["environment"], policy.metadata["arguments"])


def main(arguments: Sequence[str]) -> int:
    """Play, and print mean and spread."""
    parser = OneLineParser(prog="ver eval", description=__doc__)
    parser.add_argument("run", type=Path, help="run directory, or a policy's file")
    parser.add_argument("--episodes", type=int, default=100, help="how many (100)")
    parser.add_argument("--seed", type=int, default=1000, help="of the first episode (1000)")
    parser.add_argument("--sample", action="store_true", help="draw actions")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    if not 1 <= options.episodes <= MOST:
        raise UserError(f"--episodes must be from 1 to {MOST}, found {options.episodes}")
    if not 0 <= options.seed < 2**31 - MOST:
        raise UserError(f"--seed must be from 0 to {2**31 - MOST - 1}, found {options.seed}")
    policy, make = load_run(options.run)
    played = play_episodes(policy, make, options.episodes, options.seed, options.sample)
    returns = np.array(played["return"])
    error = returns.std(ddof=1) / len(returns) ** 0.5 if len(returns) > 1 else float("nan")
    steps = policy.metadata.get("steps", 0)
    print(
        f"{make.make} after {steps:,} steps: return {returns.mean():.6g} +- {error:.2g} (standard error), "
        f"from {returns.min():.6g} to {returns.max():.6g}, length {np.mean(played['length']):.6g}; "
        f"{len(returns)} episodes"
    )
    if options.json:
        result = {
            "environment": make.make,
            "arguments": make.arguments,
            "steps": steps,
            "seed": options.seed,
            "actions": "sampled" if options.sample else "mean",
            "mean": float(returns.mean()),
            **played,
        }
        write_atomically(options.json, (json.dumps(result, indent=1) + "\n").encode())
    return 0
