"""One training of Sample Factory 2 on one of our skills; run by its own interpreter.

`python -m benchmarks.sample_factory` starts this with the Python of a virtual environment that has
Sample Factory. The world, the picture and the network are ours: Gymnasium environment, image
encoder, and layers of the same widths; its sampling, buffers and learner are its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch
from gymnasium.wrappers import ClipAction
from sample_factory.algo.runners.runner import AlgoObserver
from sample_factory.algo.utils.context import global_model_factory
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.model.encoder import Encoder
from sample_factory.train import make_runner
from torch import nn

from benchmarks.systems import FEW_APARTMENTS
from skills.settings import SkillEnvironments
from skills.train import load_settings
from ver.networks.encoders import make_encoder
from ver.networks.policy import split_observation_keys


def environments(skill: str) -> SkillEnvironments:
    """The skill's environments, as `benchmarks.systems` makes them."""
    return SkillEnvironments.from_settings(load_settings(skill, FEW_APARTMENTS))


def make_env(name: str, cfg: Any, env_config: Any, render_mode: str | None = None) -> Any:
    """One environment; Sample Factory's policies are not bounded, so actions are clipped to the Box."""
    del render_mode
    index = env_config.env_id if env_config else 0
    return ClipAction(environments(name)(index, cfg.seed + index))


class SkillEncoder(Encoder):
    """Images through the skill's encoder, joined with the vectors, as `ver.networks` does."""

    def __init__(self, cfg: Any, obs_space: Any) -> None:
        super().__init__(cfg)
        self.images, self.vectors = split_observation_keys(obs_space)
        network = load_settings(cfg.env, []).trainer.network
        shapes = [obs_space[key].shape for key in self.images]
        height, width = shapes[0][:2]
        channels = sum(shape[2] for shape in shapes)
        self.encoder: nn.Module = make_encoder(
            network.encoder, channels, height, width, network.visual_features
        ).to(memory_format=torch.channels_last)  # pyright: ignore
        vectors = sum(obs_space[key].shape[0] for key in self.vectors)
        self.width = network.visual_features + vectors

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        """[N, width] of a batch of observations."""
        pictures = torch.cat([observations[key] for key in self.images], -1).permute(0, 3, 1, 2)
        vectors = [observations[key] for key in self.vectors]
        return torch.cat([self.encoder(pictures), *vectors], -1)

    def get_out_size(self) -> int:
        """Width of the features."""
        return self.width


class Marks(AlgoObserver):
    """Notes time and steps after every iteration of learning; ends the run when its time is up.

    Args:
        seconds: How long to measure, from the end of the first iteration.
        path: Where the marks go.
    """

    def __init__(self, seconds: float, path: Path) -> None:
        self.seconds = seconds
        self.path = path
        self.marks: list[tuple[float, int]] = []

    def on_training_step(self, runner: Any, training_iteration_since_resume: int) -> None:
        """Note; called by the runner. Whoever started this process ends the others of its session."""
        del training_iteration_since_resume
        steps = sum(runner.env_steps.values())
        if not steps:
            return
        self.marks.append((time.perf_counter(), steps))
        if self.marks[-1][0] - self.marks[0][0] >= self.seconds:
            self.path.write_text(json.dumps(self.marks))
            os._exit(0)


def settings(options: Any, vectors: list[str]) -> dict[str, Any]:
    """Sample Factory's settings that make its learner do what ours does for each step."""
    ours = load_settings(options.skill, []).trainer
    batch = options.environments * options.length // ours.ppo.mini_batches
    return {
        "env": options.skill,
        "experiment": "run",
        "train_dir": options.folder,
        "restart_behavior": "overwrite",
        "device": "cpu",
        "seed": options.seed,
        "num_workers": options.workers,
        "num_envs_per_worker": options.environments // options.workers,
        "rollout": options.rollout,
        "batch_size": batch,
        "num_batches_per_epoch": ours.ppo.mini_batches,
        "num_epochs": ours.ppo.epochs,
        "shuffle_minibatches": True,
        "use_rnn": False,
        "decoder_mlp_layers": [ours.network.hidden_size] * ours.network.layers,
        "nonlinearity": "relu",
        "policy_initialization": "torch_default",  # the encoder has initialised itself
        "adaptive_stddev": False,
        "learning_rate": ours.ppo.learning_rate,
        "gamma": ours.ppo.gamma,
        "normalize_input_keys": vectors,
        "save_every_sec": 10**6,
        "save_best_every_sec": 10**6,
        "stats_avg": 1,
        "set_workers_cpu_affinity": options.affinity,
    }


def main(arguments: list[str]) -> int:
    """Trains for a while and writes [time, steps] after every iteration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("skill")
    parser.add_argument("folder", help="for whatever it writes")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--environments", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--length", type=int, default=128, help="steps of each environment learned")
    parser.add_argument("--rollout", type=int, default=32, help="its own default")
    parser.add_argument("--affinity", type=lambda text: text == "True", default=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)

    register_env(options.skill, make_env)
    global_model_factory().register_encoder_factory(SkillEncoder)
    env = environments(options.skill)(0, 0)
    _, vectors = split_observation_keys(env.observation_space)
    env.reset(seed=0)
    env.step(env.action_space.sample())  # compiles, once for all processes
    env.close()
    words: list[str] = []
    for name, value in settings(options, vectors).items():
        words += [f"--{name}", *map(str, value if isinstance(value, list) else [value])]
    sample_factory_parser, _ = parse_sf_args(words)
    _, runner = make_runner(parse_full_cfg(sample_factory_parser, words))
    runner.register_observer(Marks(options.seconds, options.output))
    runner.init()
    return int(runner.run())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
