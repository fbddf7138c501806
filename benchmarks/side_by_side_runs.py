"""One training by one library; run by its own interpreter, for `python -m benchmarks.side_by_side`.

Every environment is the same, with a diary around it; only EnvPool has its own of that name. All else is the
library's own: `ver`, Stable-Baselines3 and CleanRL at their defaults, Stable-Baselines3 with what RL Baselines3
Zoo has found for the environment, and Sample Factory with the settings of its MuJoCo examples, as its defaults
are for images.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium

from benchmarks.diary import WithDiary

DIARY = "diary"  # in a run's folder
ENVPOOL = "envpool"
SIXTY_FOUR = 64  # environments of Sample Factory's example


class Asked(NamedTuple):
    """A training.

    Attributes:
        name: Of the environment, as for `ver.adapters.names`.
        folder: Of the run.
        seed: Of the run.
        steps: Length of the run.
        memory: Whether the environment is one that has to be remembered.
        cores: Processor cores.
    """

    name: str
    folder: Path
    seed: int
    steps: int
    memory: bool
    cores: int

    @property
    def make(self) -> WithDiary:
        """Makes the environment."""
        return WithDiary(self.name, str(self.folder / DIARY))


def train_ver(asked: Asked, *words: str, worlds: Any = None) -> None:
    """Trains with the defaults of `ver`, on worlds that are stepped together where some are given."""
    from ver import Trainer, TrainerConfig
    from ver.adapters.arrays import AnyEnvironment
    from ver.config import merge_config

    own = [f"seed={asked.seed}", f"total_steps={asked.steps}", "tensorboard=false", *words]
    if asked.memory:
        own.append("network.memory=lstm")
    config = merge_config(TrainerConfig, [], own)
    Trainer(config, worlds or AnyEnvironment(asked.make), asked.folder / "run").train()


def train_batched(asked: Asked) -> None:
    """Trains with the defaults of `ver`, but that one process steps all environments."""
    train_ver(asked, "system=batched")


def train_envpool(asked: Asked) -> None:
    """Trains with the defaults of `ver`, on EnvPool's environment of that name, stepped by its threads."""
    from benchmarks.diary_of_worlds import WorldsWithDiary

    worlds = WorldsWithDiary(f"{ENVPOOL}:{asked.name}", str(asked.folder / DIARY))
    train_ver(asked, "system=batched", worlds=worlds)


def train_sb3(asked: Asked) -> None:
    """Trains with the defaults of Stable-Baselines3's PPO, or RecurrentPPO where there is to remember."""
    from stable_baselines3 import PPO

    if asked.memory:
        from sb3_contrib import RecurrentPPO

        model: Any = RecurrentPPO("MlpLstmPolicy", asked.make(), seed=asked.seed, device="cpu")
    else:
        model = PPO("MlpPolicy", asked.make(), seed=asked.seed, device="cpu")
    model.learn(asked.steps)


def train_zoo(asked: Asked) -> None:
    """Trains as `rl_zoo3.train` does, with what it holds for the environment or else for any."""
    from rl_zoo3.train import train

    keep_diary(asked)
    sys.argv = [
        *("train", "--algo", "ppo_lstm" if asked.memory else "ppo", "--env", asked.name),
        *("-n", str(asked.steps), "--seed", str(asked.seed), "--device", "cpu"),
        *("--eval-freq", "-1", "-f", str(asked.folder / "run")),
    ]
    train()


def train_cleanrl(asked: Asked) -> None:
    """Trains as CleanRL's file for that kind of actions does, called with an environment and a length."""
    box = isinstance(gymnasium.make(asked.name).action_space, gymnasium.spaces.Box)
    module = "cleanrl.ppo_continuous_action" if box else "cleanrl.ppo"
    keep_diary(asked)
    os.chdir(asked.folder)  # it writes into the folder in which it is called
    sys.argv = [
        *(module, "--env-id", asked.name, "--seed", str(asked.seed), "--no-cuda"),
        *("--total-timesteps", str(asked.steps)),
    ]
    runpy.run_module(module, run_name="__main__")


def keep_diary(asked: Asked) -> None:
    """Makes Gymnasium put a diary around the environment of that name."""
    spec = gymnasium.spec(asked.name)
    words = {"folder": str(asked.folder.absolute() / DIARY)}
    around = gymnasium.envs.registration.WrapperSpec("Diary", "benchmarks.diary:Diary", words)
    gymnasium.registry[asked.name] = replace(spec, additional_wrappers=(around,))


def train_sample_factory(asked: Asked) -> None:
    """Trains as Sample Factory's MuJoCo examples do, with a process on each core."""
    from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
    from sample_factory.envs.env_utils import register_env
    from sample_factory.train import run_rl
    from sf_examples.mujoco.mujoco_params import mujoco_override_defaults

    register_env(asked.name, make_for_sample_factory)
    words = [
        f"--env={asked.name}", f"--train_dir={asked.folder / 'run'}", "--experiment=run",
        f"--seed={asked.seed}", f"--train_for_env_steps={asked.steps}", "--device=cpu",
        f"--num_workers={asked.cores}", f"--num_envs_per_worker={SIXTY_FOUR // asked.cores}",
        f"--use_rnn={asked.memory}",
    ]  # fmt: skip
    parser, _ = parse_sf_args(words)
    mujoco_override_defaults(asked.name, parser)
    run_rl(parse_full_cfg(parser, words))


def make_for_sample_factory(name: str, cfg: Any, env_config: Any, render_mode: Any = None) -> Any:
    """Makes an environment; Sample Factory bounds no action, so they are cut to the Box."""
    del env_config, render_mode
    env = WithDiary(name, str(Path(cfg.train_dir).parent / DIARY))()
    box = isinstance(env.action_space, gymnasium.spaces.Box)
    return gymnasium.wrappers.ClipAction(env) if box else env


SYSTEMS: dict[str, Callable[[Asked], None]] = {
    "ver": train_ver,
    "ver_batched": train_batched,
    "ver_envpool": train_envpool,
    "sb3": train_sb3,
    "sb3_zoo": train_zoo,
    "cleanrl": train_cleanrl,
    "sample_factory": train_sample_factory,
}


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    for word in ("--seed", "--steps", "--cores"):
        parser.add_argument(word, type=int, required=True)
    parser.add_argument("--memory", action="store_true")
    options = vars(parser.parse_args())
    system = SYSTEMS[options.pop("system")]
    (options["folder"] / DIARY).mkdir(parents=True, exist_ok=True)
    system(Asked(**options))


if __name__ == "__main__":
    main()
