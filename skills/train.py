"""`python -m skills.train SKILL [key=value ...]`: train a skill or another task with VER.

SKILL is a skill, a household scenario (one policy for all of it, MonolithicRL) or a navigation task. Settings
come from configs/skill.yaml (navigation tasks: configs/navigation.yaml; household scenarios: also
configs/household.yaml), configs/<skill>.yaml, with `preset=NAME` from configs/presets/NAME.yaml, and then
from the command line, e.g. `python -m skills.train pick trainer.total_steps=1000000
task.distance_scale=2`. `rules=hab` trains by habitat-lab's rules instead of ours (docs/hab.md). Several
processes, on one machine or many, train together under torchrun:
`torchrun --nproc-per-node 2 -m skills.train pick trainer.distributed.preemption=optimal`; the
environments in the settings are those of each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rearrange.rules import HAB, OURS, check_rules
from rearrange.tasks import HOUSEHOLD_NAMES
from skills.command import OneLineParser, run_command
from skills.habitat_lab import is_habitat_lab, run_name
from skills.navigation import NAVIGATION_NAMES
from skills.provenance import TEST
from skills.registry import all_specs
from skills.settings import (
    CONFIGS,
    REPOSITORY,
    check_skill,
    hab_settings,
    make_environments,
    settings_type,
)
from ver import Trainer, TrainerConfig, UserError, merge_config

WHOLE_PRESETS = ("paper",)  # say all of the learner: what configs/*.yaml say of it does not count
INTERRUPTED = 130  # exit status, as a shell tells of Ctrl-C: scripts do not go on


def load_settings(skill: str, overrides: Sequence[str] = ()) -> Any:
    """Settings of a training: defaults, the YAML file of all of its kind, its own, the preset's, overrides.

    With `rules=hab` the YAML files give the learner (`trainer:`) only, and all else begins with HAB's values.
    A preset of WHOLE_PRESETS gives the whole learner, whatever the YAML files say.

    Raises:
        UserError: Settings make no sense, or ask to train in what releases are judged by.
    """
    schema = settings_type(check_skill(skill))
    common = ("navigation",) if skill in NAVIGATION_NAMES else ("skill",)
    if skill in HOUSEHOLD_NAMES:
        common = ("skill", "household")
    names = ("habitat_lab",) if is_habitat_lab(skill) else (*common, skill)
    files = [path for name in names if (path := config_of(name)).is_file()]
    settings = merge_config(schema(), files, overrides)
    preset, rules = getattr(settings, "preset", "cpu"), getattr(settings, "rules", OURS)
    if preset != "cpu" or check_rules(rules) != OURS:
        start = merge_config(schema(), files)
        if rules == HAB:
            start = replace(hab_settings(skill), trainer=start.trainer)
        if preset in WHOLE_PRESETS:
            start = replace(start, trainer=TrainerConfig())
        settings = merge_config(start, [] if preset == "cpu" else [_preset_file(preset)], overrides)
    if not is_habitat_lab(skill) and settings.split == TEST:
        raise UserError(
            f"split={TEST} judges releases, nothing is trained in it: take train or val"
        )
    settings.skill = skill
    return settings


def config_of(name: str) -> Path:
    """The YAML file of a skill, or of whatever else is trained."""
    spec = all_specs().get(name)
    return CONFIGS / f"{name}.yaml" if spec is None or spec.config is None else spec.config


def _preset_file(name: str) -> Path:
    """The settings of a preset; UserError that lists those that exist."""
    files = {path.stem: path for path in (CONFIGS / "presets").glob("*.yaml")}
    if name not in files:
        raise UserError(f"unknown preset '{name}': choose one of cpu, {', '.join(sorted(files))}")
    return files[name]


def main(arguments: Sequence[str]) -> int:
    """Train until the steps are used up or a signal asks to stop; both leave a checkpoint.

    Returns:
        0, or INTERRUPTED after a signal. Not under torchrun, which would start the processes anew.
    """
    parser = OneLineParser(prog="skills.train", description=__doc__)
    parser.add_argument("skill", help="what to train")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings to change")
    options = parser.parse_args(arguments)
    settings = load_settings(options.skill, options.overrides)
    environments = make_environments(settings)
    run = Path(settings.run) if settings.run else REPOSITORY / "runs" / run_name(settings.skill)
    trainer = Trainer(settings.trainer, environments, run, metadata=environments.metadata())
    count = settings.trainer.collect.num_environments
    source = settings.trainer.start_from
    beginning = f"from the weights of {source}" if source else "from scratch"
    if trainer.steps:
        beginning = f"resuming at step {trainer.steps:,}"
    group = trainer.group
    if group.size > 1:
        beginning += f", in {group.size} processes"
        count *= group.size
    if group.main:
        _say(f"training {settings.skill} in {run}, {beginning}; starting {count} environments ...")
        _say(
            f"(figures come with every {trainer.rollout_steps:,} steps; a first start compiles, too)"
        )
    trainer.train()
    if not group.main:
        return 0
    status = INTERRUPTED if trainer.interrupted and group.size == 1 else 0
    ending = "interrupted: the same command goes on from here" if trainer.interrupted else "done"
    policy = f"policy in {run / 'policy.safetensors'}" if trainer.steps else "nothing learned yet"
    _say(f"{ending}; step {trainer.steps:,}, {policy}")
    return status


def _say(message: str) -> None:
    """Tell the person, beside what the dashboard draws."""
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run_command(main)
