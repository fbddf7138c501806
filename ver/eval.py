"""`python -m ver eval RUN`: judge the policy that `python -m ver train` has learned.

It plays whole episodes, each with a seed of its own, and takes the most likely actions, or with
`--sample` draws them. Worlds that are stepped together have one seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from interrupts.command_line import OneLineParser, output_file
from ver.action_space import to_environment_action
from ver.adapters.arrays import AnyEnvironment
from ver.adapters.libraries import named_environment
from ver.checkpoint import load_policy, write_json
from ver.collect.environment_worker import MakeWorlds
from ver.errors import UserError
from ver.logs import policy_file
from ver.networks.policy import ActorCritic

MOST = 10**6  # episodes
TOGETHER = 256  # worlds at most


def play_episodes(
    policy: ActorCritic,
    make: AnyEnvironment | MakeWorlds,
    episodes: int,
    seed: int,
    sample: bool = False,
) -> dict[str, list[float]]:
    """Plays whole episodes.

    Args:
        policy: Acts, on the CPU.
        make: Makes the environment, or worlds that are stepped together; if both, the environment.
        episodes: How many.
        seed: Of the first one, and of sampled actions; the next episode has the next seed. Of worlds that are
            stepped together those of a round have one.
        sample: Draw actions, instead of the most likely ones.

    Returns:
        The return and the length of each episode.
    """
    torch.manual_seed(seed)
    if not callable(make):
        return _play_together(policy, make, episodes, seed, sample)
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


def _play_together(
    policy: ActorCritic, make: MakeWorlds, episodes: int, seed: int, sample: bool
) -> dict[str, list[float]]:
    """Plays rounds in which each world's first episode counts: the first ones to end would be short."""
    returns: list[float] = []
    lengths: list[float] = []
    worlds: Any = make.make_vector(min(episodes, TOGETHER), seed)
    try:
        while len(returns) < episodes:
            totals, steps = _first_episodes(policy, worlds, seed + len(returns), sample)
            returns += totals.tolist()
            lengths += steps.tolist()
    finally:
        worlds.close()
    return {"return": returns[:episodes], "length": lengths[:episodes]}


def _first_episodes(
    policy: ActorCritic, worlds: Any, seed: int, sample: bool
) -> tuple[Tensor, Tensor]:
    """Returns and lengths [N] of the first episode of N worlds."""
    count = worlds.num_envs
    observation, _ = worlds.reset(seed=seed)
    state, action = policy.initial_state(count), policy.initial_actions(count)
    totals, lengths = torch.zeros(count, dtype=torch.float64), torch.zeros(count)
    running, goes_on = torch.ones(count, dtype=torch.bool), torch.zeros(count, dtype=torch.bool)
    while running.any():
        first = observation[next(iter(policy.observation_space))]
        shown = {
            key: torch.as_tensor(observation[key]).to("cpu", torch.float32)
            for key in policy.observation_space
        }
        with torch.inference_mode():
            choice = policy.choose(shown, state, action, goes_on, deterministic=not sample)
        state, action = choice.state, choice.actions
        taken = to_environment_action(policy.action_space, action.numpy())
        if isinstance(first, Tensor):  # else these worlds take arrays, too
            taken = torch.as_tensor(taken).to(first.device)
        observation, *ends, _ = worlds.step(taken)
        rewards, terminated, truncated = (torch.as_tensor(values).cpu() for values in ends)
        totals += torch.where(running, rewards, 0.0)
        lengths += running
        goes_on = ~(terminated | truncated)
        running &= goes_on
    return totals, lengths


def load_run(path: Path) -> tuple[ActorCritic, AnyEnvironment | MakeWorlds]:
    """The policy of a run directory, or of a file, and what makes its environment, or its worlds.

    Raises:
        UserError: There is none, or it was trained otherwise.
    """
    file = policy_file(path)
    if not file.is_file() and (path / "policy_0").is_dir():
        raise UserError(f"{path} is of a league: python -m ver rate {path}")
    policy = load_policy(file)
    if "game" in policy.metadata:
        raise UserError(f"{file} is of a league, whose policies python -m ver rate lets play")
    if "environment" not in policy.metadata:
        raise UserError(
            f"{file} was not trained by python -m ver train: its file names no environment"
        )
    named = policy.metadata["environment"], policy.metadata["arguments"]
    return policy, named_environment(*named)


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
    steps, name = policy.metadata.get("steps", 0), policy.metadata["environment"]
    print(
        f"{name} after {steps:,} steps: return {returns.mean():.6g} +- {error:.2g} (standard error), "
        f"from {returns.min():.6g} to {returns.max():.6g}, length {np.mean(played['length']):.6g}; "
        f"{len(returns)} episodes"
    )
    if options.json:
        result = {
            "environment": name,
            "arguments": policy.metadata["arguments"],
            "steps": steps,
            "seed": options.seed,
            "actions": "sampled" if options.sample else "mean",
            "mean": float(returns.mean()),
            **played,
        }
        write_json(options.json, result)
    return 0
