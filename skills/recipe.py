"""Recipes: the stages of a training, one after the other, as a config lists them.

A stage goes on from the weights of the one before it, with its own optimiser, schedules and run directory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePath
from typing import Any

from rearrange.errors import UserError

RESERVED = ("checkpoints", "tensorboard")  # folders of a run directory
# Settings that do not change what is learned
OF_A_RUN = ("run", "since", "until", "live", "validate_every", "validation_episodes", "bars")
OF_A_MACHINE = (  # likewise, within chance
    *("starts.paths", "split", "trainer.system", "trainer.seed", "trainer.deterministic"),
    *("trainer.device", "trainer.learner_threads", "trainer.inference_threads", "trainer.resume"),
    *("trainer.checkpoint_interval_s", "trainer.keep_checkpoints", "trainer.log_interval_s"),
    *("trainer.episode_window", "trainer.start_from", "trainer.tensorboard", "trainer.tracker"),
    *(
        "trainer.project",
        "trainer.collect.environments_per_worker",
        "trainer.distributed.timeout_s",
    ),
    *("trainer.collect.startup_timeout_s", "trainer.collect.step_timeout_s"),
)
QUICK, FULL = BUDGETS = ("quick", "full")


@dataclass
class Stage:
    """A part of a training."""

    name: str = ""  # of the stage, and of its folder in the run directory
    # What differs from the rest of the config, by dotted keys: {trainer.total_steps: 1000000}
    settings: dict[str, Any] = field(default_factory=dict)

    def overrides(self) -> list[str]:
        """The settings as they are typed in a command: `key=value`, the value as JSON."""
        return as_typed(self.settings)


@dataclass
class Bar:
    """Figures that a training has to reach; `python -m benchmarks.bars` looks whether it does."""

    budget: str = FULL  # quick: one that is trained every night; full: the whole recipe
    settings: dict[str, Any] = field(default_factory=dict)  # what makes a training a quick one
    # Least and most of figures of its evaluation by mean actions: {success_at_end: [0.9, 1.0]}
    reaches: dict[str, list[float]] = field(default_factory=dict)

    def overrides(self) -> list[str]:
        """The settings as they are typed in a command."""
        return as_typed(self.settings)


def as_typed(settings: Mapping[str, Any]) -> list[str]:
    """Settings as they are typed in a command: `key=value`, the value as JSON."""
    return [f"{key}={json.dumps(value)}" for key, value in settings.items()]


@dataclass
class Staged:
    """Settings that have stages, as those of every training do."""

    bars: list[Bar] = field(default_factory=list)  # results to be reached (benchmarks.bars)
    stages: list[Stage] = field(default_factory=list)  # parts of the training; empty: it has one
    # The first stage to train, with trainer.start_from in the place of those before; empty: all
    since: str = ""
    until: str = ""  # the last stage to train; empty: all
    live: bool = False  # serve a page that shows a worker's world and the curves (docs/live.md)
    # Steps from one validation to the next: validation.jsonl in the run directory, best.safetensors; 0: none
    validate_every: int = 0
    # Of each validation, always the same ones, in apartments of the validation split
    validation_episodes: int = 100


def trained_stages(settings: Staged) -> list[str]:
    """Names of the stages that are trained, `since` to `until`."""
    names = [stage.name for stage in settings.stages]
    first = names.index(settings.since) if settings.since else 0
    last = names.index(settings.until) + 1 if settings.until else len(names)
    return names[first:last]


def check_stages(stages: Sequence[Stage], since: str, until: str) -> None:
    """Raise a UserError for a name that is no folder, twice there or unknown, and for nested stages."""
    names = [stage.name for stage in stages]
    for stage in stages:
        if not stage.name.isidentifier() or stage.name in RESERVED or names.count(stage.name) > 1:
            raise UserError(
                f"stages: '{stage.name}' must be a name of letters, digits and _, "
                f"once in the list, none of {', '.join(RESERVED)}"
            )
        for key in stage.settings:
            if key.split(".")[0] in ("skill", "preset", "rules", "stages", *OF_A_RUN):
                raise UserError(f"stages: '{stage.name}' cannot set {key}: all stages share it")
    for key, name in (("since", since), ("until", until)):
        if name and name not in names:
            raise UserError(
                f"{key} must be one of {', '.join(names) or 'no stages'}, found '{name}'"
            )
    if since and until and names.index(since) > names.index(until):
        raise UserError(f"since={since} comes after until={until}")


def check_bars(bars: Sequence[Bar]) -> None:
    """Raise a UserError for a budget that is none, or twice there, and for ranges without two ends."""
    budgets = [bar.budget for bar in bars]
    for bar in bars:
        if bar.budget not in BUDGETS or budgets.count(bar.budget) > 1:
            raise UserError(
                f"bars: budget must be one of {', '.join(BUDGETS)}, each once, found '{bar.budget}'"
            )
        for name, ends in bar.reaches.items():
            if len(ends) != 2 or not ends[0] <= ends[1]:
                raise UserError(f"bars: {name} must be [least, most], found {ends}")


def recipe_of(parts: Sequence[Any]) -> dict[str, Any]:
    """Summarise a recipe for a checkpoint: the stages' names, and a hash of all their settings.

    Neither the seed nor the folders of the run and of what was recorded for it count.

    Args:
        parts: The settings of each stage, resolved, in order.
    """
    text = json.dumps([_what_is_learned(asdict(part)) for part in parts], sort_keys=True)
    names = trained_stages(parts[0]) if parts else []
    return {"stages": names, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def differences(config: Mapping[str, Any], metadata: Mapping[str, Any], stage: Any) -> list[str]:
    """Name the settings in which a policy was trained otherwise than a stage says.

    Who collects, on how many threads, from which files of starts and what is written meanwhile does not
    count. What a policy's file is too old to tell does not either.

    Args:
        config: Of the trainer, as the policy's file has it.
        metadata: Of the environments, likewise.
        stage: The settings of the stage, resolved.

    Returns:
        Dotted keys.
    """
    wanted = asdict(stage)
    found = {"trainer": config, **metadata}
    return sorted(_differing(found, wanted, ""))


def _differing(found: Mapping[str, Any], wanted: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for key in found.keys() & wanted.keys():
        dotted = f"{prefix}{key}"
        if dotted in OF_A_RUN or dotted in OF_A_MACHINE:
            continue
        one, other = found[key], wanted[key]
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _differing(one, other, f"{dotted}.")
        elif json.dumps(one) != json.dumps(other):
            yield dotted


def _what_is_learned(settings: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in settings.items() if key not in OF_A_RUN}
    kept["trainer"] = {key: value for key, value in kept["trainer"].items() if key != "seed"}
    if "starts" in kept:
        names = [PurePath(path).name for path in kept["starts"]["paths"]]
        kept["starts"] = kept["starts"] | {"paths": names}
    return kept
