"""`python -m ver train ENV [key=value ...]`: learn an environment that Gymnasium, mjlab or Brax knows by name.

Settings are those of `TrainerConfig`, with their defaults; besides, `run=DIR` (runs/ENV) and
`env.KEY=VALUE` for what the environment takes. The same command goes on with a run that was
interrupted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from interrupts import INTERRUPTED
from interrupts.command_line import OneLineParser
from ver.adapters.libraries import named_environment, own_settings
from ver.config import TrainerConfig, merge_config
from ver.errors import UserError
from ver.logs import POLICY
from ver.ranges import check_ranges
from ver.run_directory import run_directory
from ver.trainer import Trainer


@dataclass
class TrainSettings(TrainerConfig):
    """One training run on an environment."""

    run: str = ""  # run directory; empty: runs/<environment>
    env: dict[str, Any] = field(default_factory=dict)  # what the environment takes, by its names

    def trainer(self) -> TrainerConfig:
        """The learner's part."""
        return TrainerConfig(
            **{each.name: getattr(self, each.name) for each in fields(TrainerConfig)}
        )


def make_trainer(name: str, words: Sequence[str] = (), run: str | Path = "") -> Trainer:
    """The trainer of an environment.

    Args:
        name: Of the environment.
        words: `key=value` of TrainSettings.
        run: Run directory, where the words name none.

    Raises:
        UserError: A setting cannot be, or the environment cannot be made.
    """
    settings = merge_config(TrainSettings, [], [*own_settings(name), *words])
    if own := own_settings(name, settings.collect.num_environments):
        settings = merge_config(TrainSettings, [], [*own, *words])
    config = settings.trainer()
    folder = checked_folder(settings, name, run)
    metadata = {"environment": name, "arguments": settings.env}
    make_env = named_environment(name, settings.env, config.device)
    return Trainer(config, make_env, folder, metadata)


def checked_folder(settings: TrainSettings, name: str, run: str | Path = "") -> Path:
    """The run directory, of settings that can be.

    Args:
        settings: All.
        name: Of the environment.
        run: Run directory, where the settings name none.

    Raises:
        UserError: A setting cannot be, or the directory cannot be written.
    """
    check_ranges(settings.trainer())
    if settings.start_from and not Path(settings.start_from).is_file():
        raise UserError(f"start_from={settings.start_from}: there is no such file")
    default = run or Path("runs") / re.sub(r"[^\w.-]+", "_", name)
    return run_directory(settings.run, default)


def main(arguments: Sequence[str]) -> int:
    """Train until the steps are used up or a signal asks to stop; both leave a checkpoint.

    Returns:
        0, or INTERRUPTED after a signal. Not under torchrun, which would start the processes anew.
    """
    parser = OneLineParser(prog="ver train", description=__doc__)
    parser.add_argument(
        "environment", help="its name, such as CartPole-v1, ALE/Pong-v5 or brax:ant"
    )
    parser.add_argument(
        "settings",
        nargs="*",
        default=[],
        metavar="key=value",
        help="docs/settings.md, without trainer.",
    )
    options = parser.parse_args(arguments)
    trainer = make_trainer(options.environment, options.settings)
    config, group, run = trainer.config, trainer.group, trainer.run_directory
    beginning = f"resuming at step {trainer.steps:,}" if trainer.steps else "from the start"
    if group.main:
        count = config.collect.num_environments * group.size
        _say(f"training {options.environment} in {run}, {beginning}; {count} environments ...")
        _say(f"(figures come with every {trainer.rollout_steps:,} steps)")
    trainer.train()
    if group.main:
        done = "interrupted: the same command goes on" if trainer.interrupted else "done"
        policy = f"policy in {run / POLICY}" if trainer.steps else "nothing learned yet"
        _say(f"{done}; step {trainer.steps:,}, {policy}")
        if trainer.steps and not trainer.interrupted:
            _say(f"judge it: python -m ver eval {run}")
    return INTERRUPTED if trainer.interrupted and group.size == 1 else 0


def _say(message: str) -> None:
    """Tell the person, beside what the dashboard draws."""
    print(message, file=sys.stderr, flush=True)
