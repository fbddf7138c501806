"""What each rank runs in the tests of several processes.

`rank_program.py train DIRECTORY [key=value ...]` trains; `check` instead of `train` also tries
every exchange afterwards. Each rank leaves DIRECTORY/rank_<i>.json, and in threads_<i>.json the names of the
threads that there are once it has left its group.
"""

from __future__ import annotations

import atexit
import copy
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.helpers import toy_environments
from tests.helpers.played_rollouts import ACTIONS, OBSERVATIONS, make_player
from tests.helpers.small_runs import small_run
from ver.config import DistributedConfig, EntropyConfig, PPOConfig
from ver.distributed import SingleProcess, join_group
from ver.errors import UserError
from ver.ppo import PPO
from ver.rollout import RolloutBuffer
from ver.trainer import Trainer


def digest(tensors: dict[str, torch.Tensor]) -> str:
    """Equal for bitwise equal tensors."""
    return hashlib.sha256(b"".join(t.cpu().numpy().tobytes() for t in tensors.values())).hexdigest()


def state_of(ppo: PPO) -> dict[str, torch.Tensor]:
    """All that learning changes."""
    return ppo.policy.state_dict() | {"log_alpha": ppo.entropy.log_alpha.detach()}


def half_of(buffer: RolloutBuffer, rank: int) -> RolloutBuffer:
    """The same experience of half the environments."""
    n = buffer.num_environments // 2
    half = RolloutBuffer(OBSERVATIONS, ACTIONS, n, buffer.length, buffer.states.shape[1])
    slots = np.flatnonzero(buffer.environments // n == rank)
    small = ("log_probs", "values", "rewards", "outcomes", "final_values", "first")
    for name in (*small, "episodes", "steps", "previous_actions", "actions", "states"):
        getattr(half, name)[:] = getattr(buffer, name)[slots]
    half.environments[:] = buffer.environments[slots] - rank * n
    half.sequences[:] = np.arange(len(slots))
    half.rollouts[:] = half.rollout[0]
    half.observations["x"][:] = buffer.observations["x"][slots]
    half.newest[:] = [np.flatnonzero(half.environments == e)[-1] for e in range(n)]
    return half


def learn_halves(group: SingleProcess) -> dict[str, Any]:
    """Learns half of a batch on each rank, and on its own the whole one from the same start."""
    config = PPOConfig(
        epochs=3,
        mini_batches=1,
        learning_rate=0.01,
        normalise_advantages=True,
        max_gradient_norm=0.05,
        entropy=EntropyConfig(learned=True, initial=0.01, target=5.0),
    )
    # In turn, so that both halves have as many steps.
    player = make_player(4, 12, in_turn=True)
    player.collect()
    start = copy.deepcopy(player.policy)
    whole = PPO(player.policy, config)
    expected = whole.learn(player.buffer, np.random.default_rng(0))
    half = PPO(start, config, group=group)
    before = digest(state_of(half))
    numbers = half.learn(half_of(player.buffer, group.rank), np.random.default_rng(group.rank))
    names = ("policy_loss", "value_loss", "entropy", "gradient_norm", "approximate_kl")
    pairs = zip(state_of(whole).values(), state_of(half).values(), strict=True)
    return {
        "parameter_error": max(float((a - b).abs().max()) for a, b in pairs),
        "loss_error": max(abs(expected[name] - numbers[name]) for name in names),
        "clipped": expected["gradient_norm"] > config.max_gradient_norm,
        "normalised": float(whole.policy.normaliser.count),
        "before": before,
        "digest": digest(state_of(half)),
    }


def refusal(group: SingleProcess) -> str:
    """Tells how rank 0 refuses to answer."""

    def refuse() -> None:
        raise UserError("no answer")

    try:
        group.ask_main(refuse)
    except UserError as error:
        return str(error)
    return ""


def check() -> dict[str, Any]:
    """Tries every exchange once."""
    group = join_group("cpu", DistributedConfig(timeout_s=60.0))
    rank = group.rank
    gradients = [torch.full((2, 3), float(rank)), torch.tensor([10.0 * rank])]
    parameter = torch.full((2, 2), float(rank)).t()
    group.broadcast([parameter])
    # Before any stop is wanted, then as rank 1 learns of its own wish.
    quiet = [group.any(False), group.hears_stop(False), group.agrees_to_stop(False)]
    result = {
        "halves": learn_halves(group),
        "numbers": group.average(gradients, {"loss": rank + 1.0}),
        "gradients": [gradient.flatten().tolist() for gradient in gradients],
        "gathered": group.gather({"from": rank, "text": "x" * rank}),
        "broadcast": parameter.flatten().tolist(),
        "asked": [group.ask_main(lambda: rank), refusal(group)],
        "quiet": quiet,
        "one_flag": group.any(rank == 1),
        "count": [group.count("steps", rank + 1), group.any(False), group.count("steps", 0)][2],
        "agreed_before": group.agrees_to_stop(rank == 1),
    }
    group.hears_stop(rank == 1)
    group.any(False)
    group._listened_at = 0.0  # pyright: ignore
    group.average(gradients, {})
    return result | {
        "agreed_after": group.agrees_to_stop(False),
        "heard": group.hears_stop(False),
    }


def train(directory: Path, overrides: list[str]) -> dict[str, Any]:
    """Trains as skills.train does."""
    config = small_run("log_interval_s=0", *overrides)
    rows: list[dict[str, float]] = []
    trainer = Trainer(
        config,
        toy_environments.make_cue,
        directory / "run",
        after_update=lambda _, r: rows.append(r),
    )
    first = {"digest": digest(state_of(trainer.ppo)), "resumes": trainer.progress.resumes}
    draw = [float(torch.rand(())), float(trainer.rng.random())]
    trainer.train()
    return {
        "first": first,
        "digest": digest(state_of(trainer.ppo)),
        "steps": trainer.steps,
        "episodes": trainer.progress.episodes,
        "interrupted": trainer.interrupted,
        "rows": rows,
        "draw": draw,
        "environment_seed": trainer.environment_seed,
        "learning_rate": trainer.ppo.learning_rate,
    }


def tell_threads(path: Path) -> None:
    """Writes the names of the threads of this process."""
    path.write_text(
        json.dumps([(t / "comm").read_text() for t in Path("/proc/self/task").iterdir()])
    )


def main(what: str, directory: Path, overrides: list[str]) -> None:
    """Runs and leaves the result."""
    # What is registered before the group is called after the group has been left
    atexit.register(tell_threads, directory / f"threads_{os.environ['RANK']}.json")
    try:
        result = train(directory, overrides)
        if what == "check":
            result |= check()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        raise SystemExit(2) from None
    (directory / f"rank_{os.environ['RANK']}.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
