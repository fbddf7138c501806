"""`python -m benchmarks.learner --device cuda`: steps per second of inference and of learning, each alone.

There is no world: observations are random numbers that lie on the device already. "inference" is
`ActorCritic.act` on N steps, up to the actions' arrival on the host. "update" is one gradient step on N steps,
in sequences of 16; "epoch" is that with returns, advantages and the packing of images. Of each the median of
its repeats is told. Memory that does not suffice is told as such.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from rich.table import Table

from rearrange.command_line import OneLineParser, output_console, output_file
from skills.command import run_command
from skills.provenance import made, write_result
from ver import UserError
from ver.config import NetworkConfig, PPOConfig
from ver.experience import make_experience
from ver.mini_batches import cut_mini_batches
from ver.networks.policy import ActorCritic
from ver.ppo import PPO
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES

SEQUENCE = 16
COUNTS = (256, 512, 1024, 2048, 4096, 8192)
PRECISIONS = ("float32", "bfloat16")
# As in configs/skill.yaml and configs/presets/paper.yaml
NETWORKS: dict[str, tuple[int, dict[str, Any]]] = {
    "small": (64, {"hidden_size": 256, "layers": 2, "previous_action_features": 32}),
    "large": (
        128,
        {
            **{"encoder": "resnet18", "visual_features": 512, "memory": "lstm"},
            **{"hidden_size": 512, "layers": 2, "previous_action_features": 32},
        },
    ),
}
ACTIONS = spaces.Box(-1.0, 1.0, (11,), np.float32)
LEAST_REPEATS = 3


def make(name: str, precision: str, count: int, device: str) -> tuple[ActorCritic, RolloutBuffer]:
    """A policy, and a full rollout of random numbers with `count` steps to learn from."""
    size, shape = NETWORKS[name]
    observations = spaces.Dict(
        {
            "depth": spaces.Box(0.0, 1.0, (size, size, 1), np.float32),
            "state": spaces.Box(-np.inf, np.inf, (40,), np.float32),
        }
    )
    mixed = "none" if precision == "float32" else precision
    config = NetworkConfig(**shape, activation="relu", mixed_precision=mixed)
    torch.manual_seed(0)
    policy = ActorCritic(observations, ACTIONS, config).to(device)
    length = min(SEQUENCE, count)
    worlds = count // length
    sizes = worlds, length, policy.state_size
    buffer = RolloutBuffer(observations, ACTIONS, *sizes, policy.device, shared=False)
    for column in (*buffer.observations.values(), buffer.actions, buffer.previous_actions):
        column.uniform_(0.0, 1.0)
    rng = np.random.default_rng(0)
    buffer.begin()
    slots = buffer.claim(buffer.capacity)
    buffer.environments[slots] = np.tile(np.arange(worlds), length + 1)
    buffer.steps[slots] = np.repeat(np.arange(length + 1), worlds)
    buffer.newest[:] = slots[-worlds:]
    buffer.outcomes[slots] = CONTINUES
    buffer.rewards[slots] = rng.normal(size=len(slots))
    buffer.log_probs[slots] = -5.0
    buffer.written[0] = len(slots)
    return policy, buffer


def timed(work: Callable[[], Any], seconds: float, device: str) -> float:
    """The median time of some work [s], repeated for some seconds after a first time."""
    times: list[float] = []
    begun = None
    while begun is None or len(times) < LEAST_REPEATS or time.perf_counter() - begun < seconds:
        _wait_for(device)
        begin = time.perf_counter()
        work()
        _wait_for(device)
        if begun is not None:
            times.append(time.perf_counter() - begin)
        begun = begun or time.perf_counter()
    return median(times)


def _wait_for(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def inference(policy: ActorCritic, buffer: RolloutBuffer, count: int) -> Callable[[], Any]:
    """Acting on `count` steps."""
    seen = {key: column[:count] for key, column in buffer.observations.items()}
    state, previous = policy.initial_state(count), policy.initial_actions(count)
    masks = torch.ones(count, device=policy.device)

    def act() -> None:
        with torch.inference_mode():
            policy.act(seen, state, previous, masks).actions.cpu()

    return act


def learning(policy: ActorCritic, buffer: RolloutBuffer) -> dict[str, Callable[[], Any]]:
    """One gradient step on the whole rollout, alone and with all that it needs."""
    ppo = PPO(policy, PPOConfig(epochs=1, mini_batches=1, learning_rate=1e-6))
    experience = make_experience(buffer, 0.99, 0.95, 1.0, 0)
    rng = np.random.default_rng(0)
    (batch,) = cut_mini_batches(experience.starts, experience.lengths, 1, rng)
    packed = ppo.packer.pack(buffer, experience.slots, batch)
    return {
        "update": lambda: ppo.update(buffer, experience, packed),
        "epoch": lambda: ppo.learn(buffer, rng),
    }


def measure(name: str, precision: str, count: int, options: Any) -> dict[str, Any]:
    """Steps per second by kind, and the most memory of the GPU that was in use [bytes]."""
    on_gpu = options.device != "cpu"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    found: dict[str, Any] = {"network": name, "precision": precision, "steps": count}
    try:
        policy, buffer = make(name, precision, count, options.device)
        kinds = {"inference": inference(policy, buffer, count)} | learning(policy, buffer)
        for kind, work in kinds.items():
            found[kind] = count / timed(work, options.seconds, options.device)
    except torch.cuda.OutOfMemoryError:
        found["out_of_memory"] = True
    if on_gpu:
        found["memory_bytes"] = torch.cuda.max_memory_allocated()
        torch.cuda.empty_cache()
    return found


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Prints the table."""
    table = Table(title="steps per second, each alone")
    for name in ("network", "precision", "steps", "inference", "update", "epoch"):
        table.add_column(name, justify="left" if name in ("network", "precision") else "right")
    for row in rows:
        rates = (
            f"{row[k]:,.0f}" if k in row else "memory" for k in ("inference", "update", "epoch")
        )
        table.add_row(row["network"], row["precision"], f"{row['steps']:,}", *rates)
    output_console().print(table)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.learner", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--networks", default=",".join(NETWORKS), help="small,large")
    parser.add_argument("--precisions", default=",".join(PRECISIONS), help="float32,bfloat16")
    counts = ",".join(str(count) for count in COUNTS)
    parser.add_argument("--steps", default=counts, metavar="N,...", help=f"N ({counts})")
    parser.add_argument("--seconds", type=float, default=1.0, help="least time of each figure (1)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    for name, valid in (("networks", tuple(NETWORKS)), ("precisions", PRECISIONS)):
        words = getattr(options, name).split(",")
        for word in words:
            if word not in valid:
                raise UserError(f"--{name}: unknown '{word}': choose of {', '.join(valid)}")
        setattr(options, name, words)
    try:
        options.steps = [int(word) for word in options.steps.split(",")]
    except ValueError:
        options.steps = [0]
    if min(options.steps) < 2 or any(n > SEQUENCE and n % SEQUENCE for n in options.steps):
        raise UserError(f"--steps: whole numbers from 2 on, above {SEQUENCE} multiples of it")
    if options.device != "cpu" and not torch.cuda.is_available():
        raise UserError(f"--device {options.device}: torch finds no GPU here")
    return options


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    options = parse(arguments)
    what = "inference and learning, each alone"
    record: dict[str, Any] = {"made": made("benchmarks.learner", arguments, what=what)}
    rows = []
    for name in options.networks:
        for precision in options.precisions:
            for count in options.steps:
                rows.append(measure(name, precision, count, options))
                print(rows[-1], flush=True)
    show(rows)
    if options.json:
        write_result(options.json, record | {"device": options.device, "rows": rows})
    return 0


if __name__ == "__main__":
    run_command(main)
