"""`python -m skills.train SKILL [key=value ...]`: train a skill or another task with VER.

SKILL is a skill, a household scenario (one policy for all of it, MonolithicRL) or a navigation task. Settings
come from configs/skill.yaml (navigation tasks: configs/navigation.yaml; household scenarios: also
configs/household.yaml), configs/<skill>.yaml, with `preset=NAME` from configs/presets/NAME.yaml, and then
from the command line, e.g. `python -m skills.train pick trainer.total_steps=1000000
task.distance_scale=2`. `rules=hab` trains by habitat-lab's rules instead of ours (docs/hab.md). Several
processes, on one machine or many, train together under torchrun:
`torchrun --nproc-per-node 2 -m skills.train pick trainer.distributed.preemption=optimal`; the
environments in the settings are those of each. Where a config lists `stages`, they are trained one
after the other, each in a folder of the run with its name; `until=NAME` ends with that one, `since=NAME`
begins with it, from trainer.start_from.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nav.table import all_tasks
from rearrange.caching import first_start
from rearrange.command_line import INTERRUPTED, OneLineParser
from rearrange.robot import DEFAULT_ROBOT
from rearrange.rules import HAB, OURS, check_rules
from rearrange.shipped import CONFIGS, CPU, preset_file
from rearrange.tasks import household_names
from rearrange.tasks.true_state import BOTH, TRUE_STATE
from skills.command import run_command
from skills.demonstrations import imitate
from skills.environments import Environments
from skills.habitat_lab import HabitatLabEnvironments, run_name
from skills.names import names_of, with_indices
from skills.navigation import navigation_names
from skills.peek import Watched, page_of
from skills.provenance import TEST
from skills.recipe import Stage, check_bars, check_stages, differences, recipe_of, trained_stages
from skills.registry import all_specs
from skills.settings import (
    check_skill,
    hab_settings,
    kind_of,
    make_environments,
    settings_type,
)
from skills.validation import Validation, check_validation
from ver import Trainer, TrainerConfig, UserError, load_policy, merge_config
from ver.changed_settings import check_same_start
from ver.checkpoint import copy_policy
from ver.collect.systems import checked_system
from ver.distributed import SingleProcess, join_group
from ver.logs import POLICY
from ver.ranges import check_ranges
from ver.run_checkpoints import RunCheckpoints
from ver.run_directory import run_directory
from ver.run_lock import RunLock
from ver.trackers import NONE, mark_stage

# Where a message of the learner names a setting in a group of its own
LEARNERS = re.compile(r"(?<![\w./])(?=(collect|ppo|network|appo|distributed)\.[a-z_]+\b)")
WHOLE_PRESETS = ("paper",)  # say all of the learner: what configs/*.yaml say of it does not count


def load_settings(skill: str, overrides: Sequence[str] = ()) -> Any:
    """Settings of a training: defaults, the YAML file of all of its kind, its own, the preset's, overrides.

    With `rules=hab` the YAML files give the learner alone (`trainer:` and `sensors:`), all else begins with
    HAB's values.
    A preset of WHOLE_PRESETS gives the whole learner, whatever the YAML files say.

    Raises:
        UserError: Settings make no sense, or ask to train in what releases are judged by.
    """
    settings = _merged(skill, overrides)
    check_stages(settings.stages, settings.since, settings.until)
    check_bars(settings.bars)
    if settings.since and not settings.trainer.start_from:
        raise UserError(f"since={settings.since} needs trainer.start_from: what came before")
    return settings


def load_stages(skill: str, overrides: Sequence[str] = ()) -> list[Any]:
    """Settings of every stage of a training, `since` to `until`; of one without stages its only ones.

    What a stage sets comes after the YAML files and before the overrides.

    Raises:
        UserError: As `load_settings`, for the stage that it names.
    """
    settings = load_settings(skill, overrides)
    parts, names = [], trained_stages(settings)
    for stage in settings.stages:
        if stage.name not in names:
            continue
        try:
            parts.append(_merged(skill, [*stage.overrides(), *overrides]))
        except UserError as error:
            raise UserError(f"stage {stage.name}: {error}") from None
    return parts or [settings]


def _merged(skill: str, overrides: Sequence[str]) -> Any:
    schema = settings_type(check_skill(skill))
    files = [config_of(name) for name in kind_of(skill).config_names(skill)]
    settings = merge_config(schema, files, overrides)
    preset, rules = getattr(settings, "preset", "cpu"), getattr(settings, "rules", OURS)
    if preset != CPU or check_rules(rules) != OURS:
        start = merge_config(schema, files)
        if rules == HAB:
            learner = {"trainer": start.trainer, "sensors": start.sensors}
            start = replace(hab_settings(skill), **learner)
        if preset in WHOLE_PRESETS:
            learner = {"trainer": TrainerConfig()}
            if hasattr(start, "sensors"):
                learner["sensors"] = schema().sensors
            start = replace(start, **learner)
        file = preset_file(preset)
        settings = merge_config(start, [] if file is None else [file], overrides)
    if kind_of(skill) is not HabitatLabEnvironments and settings.split == TEST:
        raise UserError(
            f"split={TEST} judges releases, nothing is trained in it: take train or val"
        )
    names = names_of(skill, getattr(settings, "robot", DEFAULT_ROBOT))
    settings.trainer = with_indices(settings.trainer, names)
    told, sensors = settings.trainer.network.critic_only, getattr(settings, "sensors", None)
    if sensors == BOTH and TRUE_STATE not in told:
        settings.trainer.network.critic_only = [*told, TRUE_STATE]
    elif sensors is not None and not told and not _asked(overrides, "trainer.ppo.state_estimation"):
        settings.trainer.ppo.state_estimation = 0.0  # a recipe's: there is nothing to tell
    check_ranges(settings.trainer, told="trainer.")
    if hasattr(settings, "cloning"):
        check_ranges(settings.cloning, "cloning.")
    if settings.skill not in ("", skill):
        raise UserError(f"skill={settings.skill}: what is trained is the first word, {skill}")
    settings.skill = skill
    check_validation(settings)
    return settings


def _asked(overrides: Sequence[str], key: str) -> bool:
    return any(word.partition("=")[0] == key for word in overrides)


def config_of(name: str) -> Path:
    """The YAML file of a skill, or of whatever else is trained."""
    spec, task = all_specs().get(name), all_tasks().get(name)
    own = spec.config if spec is not None else None if task is None else task.CONFIG
    return CONFIGS / f"{name}.yaml" if own is None else own


def main(arguments: Sequence[str]) -> int:
    """Train until the steps are used up or a signal asks to stop; both leave a checkpoint.

    Returns:
        0, or INTERRUPTED after a signal. Not under torchrun, which would start the processes anew.
    """
    parser = OneLineParser(prog="skills.train", description=__doc__)
    names = ", ".join((*all_specs(), *household_names(), *navigation_names()))
    parser.add_argument("skill", help=f"one of {names}")
    parser.add_argument(
        "overrides", nargs="*", default=[], metavar="key=value", help="docs/settings.md"
    )
    options = parser.parse_args(arguments)
    parts = load_stages(options.skill, options.overrides)
    all_environments = [make_environments(part) for part in parts]
    first = parts[0]
    source = first.trainer.start_from
    if source and not Path(source).is_file():
        raise UserError(f"trainer.start_from={source}: there is no such file")
    if source and getattr(first, "teacher", ""):
        raise UserError(
            f"trainer.start_from={source}: the first stage imitates the {first.teacher}, and begins with no "
            "weights; say since=STAGE, too, or leave it out"
        )
    run = run_directory(first.run, Path("runs") / run_name(first.skill))
    try:
        for part in parts:
            checked_system(part.trainer)
        with page_of(first, run) as watched, _held(run, first):
            return _train_all(parts, all_environments, run, watched)
    except UserError as error:
        error.args = (with_prefix(str(error)), *error.args[1:])
        raise


def with_prefix(message: str) -> str:
    """A message of the learner with its settings as they are given here: trainer.collect.overlap."""
    return LEARNERS.sub("trainer.", message)


def _held(run: Path, settings: Any) -> AbstractContextManager[Any]:
    """Hold the run directory of a training in stages, of which each holds its own."""
    is_first = os.environ.get("RANK", "0") == "0"
    return RunLock(run) if settings.stages and is_first else nullcontext()


def _train_all(
    parts: Sequence[Any], all_environments: Sequence[Environments], run: Path, watched: Watched
) -> int:
    """Train all stages; returns the exit status of `main`."""
    recipe, policy, steps = recipe_of(parts), "", 0
    for index, (settings, environments) in enumerate(zip(parts, all_environments, strict=True)):
        folder, teacher, recipe["stage"] = run, getattr(settings, "teacher", ""), ""
        if settings.stages:
            recipe["stage"] = recipe["stages"][index]
            folder = run / recipe["stage"]
        if policy:
            settings.trainer.start_from = policy
        metadata = environments.metadata() | {"recipe": dict(recipe)}
        ended = 0 if folder == run or teacher else _ended_after(folder, settings)
        if not ended:
            _check_begun(folder, teacher)
        if ended:
            if index == 0:
                check_same_start(folder, settings.trainer.start_from)
            group = join_group(settings.trainer.device, settings.trainer.distributed)
            done = Outcome(group, False, ended)
        elif teacher:
            done = _imitate(settings, environments, folder, metadata)
        else:
            if folder != run and settings.trainer.tracker != NONE:
                mark_stage(folder, steps)
            done = _train(settings, watched(environments), folder, metadata)
        if done.interrupted:
            return INTERRUPTED if done.group.size == 1 else 0
        policy, steps = str(folder / POLICY), steps + done.steps
        if folder != run and done.group.main:
            later = _gone_on_to(run, settings.stages, recipe["stage"])
            if not later:
                copy_policy(folder / POLICY, run / POLICY)
            if index + 1 < len(parts):
                RunCheckpoints(folder, keep=1).clear()  # the next stage begins with the policy
            elif later:
                _say(
                    f"{run} has gone on to {later}: its policy stays that, {folder} has this stage's"
                )
    return 0


def _gone_on_to(run: Path, stages: Sequence[Stage], name: str) -> str:
    """The last stage after one of that name of which a run has a policy; empty where there is none."""
    names = [stage.name for stage in stages]
    later = names[names.index(name) + 1 :]
    return next((name for name in reversed(later) if (run / name / POLICY).exists()), "")


def _ended_after(folder: Path, stage: Any) -> int:
    """Steps of a stage that is done, and of which only the policy is kept; 0 where it is not.

    Raises:
        UserError: It was done with another seed, or in another split.
    """
    if RunCheckpoints(folder, keep=1).all() or not (folder / POLICY).exists():
        return 0
    policy = load_policy(folder / POLICY)
    steps: int = policy.metadata.get("steps", 0)
    imitated = "cloning" in policy.metadata  # in so many steps, but not trained by itself
    same = not imitated and not differences(policy.config, policy.metadata, stage)
    if not same or steps < stage.trainer.total_steps:
        return 0
    before = {"trainer.seed": policy.config.get("seed"), "split": policy.metadata.get("split")}
    now = {"trainer.seed": stage.trainer.seed, "split": stage.split}
    for key, value in before.items():
        if value not in (None, now[key]):
            raise UserError(
                f"{key}={now[key]}: {folder} was trained with {key}={value}: say that, or choose another "
                "run=DIRECTORY"
            )
    return steps


def _check_begun(run: Path, teacher: str) -> None:
    """Refuse a run directory, or a stage's, that was begun with a teacher where there is none, or without."""
    begun = bool(RunCheckpoints(run, keep=1).all())
    if teacher and begun:
        raise UserError(
            f"teacher={teacher}: {run} was begun without one: choose another run=DIRECTORY"
        )
    if not (teacher or begun) and (run / POLICY).exists():
        raise UserError(
            f"{run} holds a policy and no checkpoints to go on from: choose another run=DIRECTORY"
        )


class Outcome(NamedTuple):
    """End of a stage: the group of its processes, whether it was interrupted, and its steps."""

    group: SingleProcess
    interrupted: bool
    steps: int = 0


def _imitate(settings: Any, environments: Any, run: Path, metadata: dict[str, Any]) -> Outcome:
    """Imitate a teacher, in the first process."""
    group, interrupted = join_group(settings.trainer.device, settings.trainer.distributed), False
    if group.main:
        _say(f"imitating the {settings.teacher} of {settings.skill} in {run}")
        try:
            imitate(environments, settings.trainer, settings.cloning, run, metadata, _say)
        except KeyboardInterrupt:
            interrupted = True
            _say("interrupted: the same command begins this stage again")
    return Outcome(group, group.any(interrupted))


def _train(settings: Any, environments: Any, run: Path, metadata: dict[str, Any]) -> Outcome:
    """Train a stage with VER."""
    trainer = Trainer(settings.trainer, environments, run, metadata=metadata)
    count = settings.trainer.collect.num_environments
    source = settings.trainer.start_from
    beginning = f"from the weights of {source}" if source else "from scratch"
    if trainer.steps:
        beginning = f"resuming at step {trainer.steps:,}"
        if trainer.steps >= settings.trainer.total_steps:
            beginning += ", which is all that was asked for (another run=DIRECTORY begins anew)"
    group, steps_before = trainer.group, trainer.steps
    if group.size > 1:
        beginning += f", in {group.size} processes"
        count *= group.size
    if group.main:
        _say(f"training {settings.skill} in {run}, {beginning}; starting {count} environments ...")
        _say(f"(figures come with every {trainer.rollout_steps:,} steps{first_start()})")
    validation = Validation(settings, run, _say, trainer.steps)
    with closing(validation) if group.main else nullcontext():  # its files are the first process's
        if settings.validate_every:
            trainer.after_update = validation
        trainer.train()
        if settings.validate_every and group.main and not trainer.interrupted:
            validation.finish(trainer)
    if group.main:
        ending = (
            "interrupted: the same command goes on from here" if trainer.interrupted else "done"
        )
        policy = f"policy in {run / POLICY}" if trainer.steps else "nothing learned yet"
        if trainer.interrupted and trainer.steps == steps_before > 0:
            policy += " as it was: no rollout was full"
        _say(f"{ending}; step {trainer.steps:,}, {policy}")
        if trainer.steps and not trainer.interrupted:
            _say(
                f"judge it: rearrange eval {settings.skill} --actions mean --checkpoint {run / POLICY}"
            )
    return Outcome(group, trainer.interrupted, trainer.steps)


def _say(message: str) -> None:
    """Tell the person, beside what the dashboard draws."""
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run_command(main)
