"""`python -m planner.eval tidy_house`: how well a household task is done.

Plans every episode, lets the skills follow the plan, or one policy do without skills and plan
(`--skills monolithic`), and reports success after every interaction.

This module reads the command line and says whether it makes sense.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.evaluation import EvaluationSettings
from planner.replanning import NEW_PLANS, ReplanSettings
from planner.rules import LEAST_CHANCE, REDRIVES, ExecutiveSettings
from planner.search import OWN_ENGINE, engine_names
from rearrange.command_line import (
    OneLineParser,
    check_counts,
    output_file,
    output_folder,
    refuse,
)
from rearrange.errors import UserError, check_choice
from rearrange.sim.backends import check_simulator_name, make_simulator
from rearrange.tasks import household_names
from skills.knowledge import DEFAULT_LEVEL, LEVELS, check_level
from skills.learned import check_metadata
from skills.library import robot_of, skill_sources
from skills.modes import MONOLITHIC, SKILLS_HELP, parse_modes
from skills.provenance import add_homes, check_homes_asked
from skills.registry import all_specs
from ver import read_metadata

DESCRIPTION = (__doc__ or "").rpartition("\n\n")[0]
OWN_TIMEOUTS: Mapping[str, int] = {}  # each skill's, by who plays it


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line; raises UserError where it is wrong."""
    parser = OneLineParser(prog="planner.eval", description=DESCRIPTION)
    parser.add_argument("task", help=f"one of: {', '.join(household_names())}")
    parser.add_argument("--episodes", type=int, default=10, metavar="N")
    parser.add_argument("--skills", default="mixed", help=SKILLS_HELP)
    add_homes(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument(
        "--sim", default="mujoco", help="mujoco (default), or habitat (see docs/habitat.md)"
    )
    parser.add_argument(
        "--robot", default="", metavar="NAME", help="who acts; default: that of the policies"
    )
    parser.add_argument("--workers", type=int, metavar="W", help="processes; default: cores")
    _add_outputs(parser)
    parser.add_argument(
        "--dataset",
        metavar="PATH",
        help="episode file, or 'sampled'; default: data/episodes/ where it holds enough",
    )
    parser.add_argument(
        "--no-nav", action="store_true", help="delete navigation from the plans: TP-SRL(NoNav)"
    )
    parser.add_argument(
        "--close", action="store_true", help="also close fridge and drawers; not part of HAB"
    )
    parser.add_argument("--engine", default=OWN_ENGINE, help="or one of unified-planning's")
    parser.add_argument(
        "--validate-plans", action="store_true", help="check with unified-planning's validator"
    )
    parser.add_argument(
        "--plan-only", action="store_true", help="print plans of a file's episodes, follow none"
    )
    _add_executive(parser)
    options = parser.parse_args(arguments)
    _check_options(options)
    return options


def timeouts(word: str) -> Mapping[str, int]:
    """Steps that each skill may take, as the option says; none where each has its own.

    Raises:
        argparse.ArgumentTypeError: There is no such word.
    """
    if word == "own":
        return OWN_TIMEOUTS
    if word == "hab":
        return {name: spec.timeout for name, spec in all_specs().items()}
    if not word.isdecimal() or not 1 <= int(word) <= ExecutiveSettings.max_steps:
        most = ExecutiveSettings.max_steps
        raise argparse.ArgumentTypeError(f"must be own, hab, or from 1 to {most}, found {word!r}")
    return dict.fromkeys(all_specs(), int(word))


def chance(word: str) -> float:
    """A chance that an option says.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    try:
        found = float(word)
    except ValueError:
        found = math.nan
    if not 0.0 <= found <= 1.0:
        raise argparse.ArgumentTypeError(f"must be from 0 to 1, found {word!r}")
    return found


def _add_executive(parser: argparse.ArgumentParser) -> None:
    """Add the options for how plans are followed."""
    parser.add_argument(
        "--navigate-timeout",
        default="end",
        help="end (default): the episode ends; proceed: the next skill starts where the robot is",
    )
    parser.add_argument(
        "--timeouts",
        type=timeouts,
        default=OWN_TIMEOUTS,
        metavar="STEPS",
        help="what a skill may take: own (default: HAB's where it is learned, else more), hab (for all of "
        "them), or a number",
    )
    parser.add_argument(
        "--replan",
        type=int,
        nargs="?",
        const=NEW_PLANS,
        default=0,
        metavar="N",
        help=f"at most N new plans in an episode (default {NEW_PLANS}) after what went wrong; not TP-SRL's",
    )
    parser.add_argument(
        "--redrive",
        type=int,
        nargs="?",
        const=REDRIVES,
        default=0,
        metavar="N",
        help=f"at most N new drives (default {REDRIVES}) where one ran out of time, or before a skill that "
        "would hardly succeed from where it ended (skills.initiation); not TP-SRL's",
    )
    parser.add_argument(
        "--least-chance",
        type=chance,
        default=LEAST_CHANCE,
        metavar="P",
        help=f"of success, below which --redrive drives anew (default {LEAST_CHANCE})",
    )
    parser.add_argument(
        "--knowledge",
        default=DEFAULT_LEVEL,
        metavar="LEVEL",
        help=f"what the robot may know (docs/knowledge.md): {', '.join(LEVELS)}; "
        f"default: {DEFAULT_LEVEL}",
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options for output files."""
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write all results there")
    parser.add_argument(
        "--ledger",
        type=output_file,
        metavar="PATH",
        help="write the figures alone there, for results/",
    )
    parser.add_argument(
        "--page", type=output_file, metavar="PATH", help="write a web page of it there"
    )
    parser.add_argument("--video", action="store_true", help="one mp4 per episode")
    parser.add_argument("--output", type=output_folder, metavar="DIR", help="where videos go")
    parser.add_argument(
        "--record-hand-offs",
        type=output_folder,
        metavar="DIR",
        help="write the states in which skills begin as episodes of theirs, to train and evaluate with",
    )


def _check_options(options: argparse.Namespace) -> None:
    """Raise a UserError where options make no sense, alone or together."""
    check_choice("task", options.task, household_names())
    check_homes_asked(options)
    mode, _ = parse_modes(options.skills)
    if check_simulator_name(options.sim) != "mujoco":
        if options.video:
            raise UserError("--video draws MuJoCo's worlds: leave it or --sim out")
        make_simulator(options.sim, 1).close()
    check_choice("navigate-timeout", options.navigate_timeout, ("end", "proceed"))
    check_level(options.knowledge)
    reason = " follows no plan: leave out {option}"
    followed: dict[str, Any] = {
        "replan": 0,
        "redrive": 0,
        "navigate_timeout": "end",
        "timeouts": OWN_TIMEOUTS,
        "knowledge": DEFAULT_LEVEL,
    }
    if options.plan_only:
        played = {"workers": None, "ledger": None, "page": None, "video": False}
        refuse(options, f"--plan-only{reason}", record_hand_offs=None, **played, **followed)
    elif mode == MONOLITHIC:
        of_plans = {"no_nav": False, "record_hand_offs": None}
        refuse(options, f"--skills {MONOLITHIC}{reason}", **of_plans, **followed)
    if options.no_nav:
        drives = {"navigate_timeout": "end", "redrive": 0}
        refuse(options, "--no-nav has no drives: leave {option} out", **drives)
    if not options.redrive:
        reason = "{option} is for --redrive: give that, too, or leave it out"
        refuse(options, reason, least_chance=LEAST_CHANCE)
    if not options.video:
        refuse(options, "{option} is for --video: give that, too, or leave it out", output=None)
    _check_files(options)
    if options.engine != OWN_ENGINE:
        check_choice("engine", options.engine, engine_names())
    check_counts(options, "episodes", "workers")


def _check_files(options: argparse.Namespace) -> None:
    """Raise a UserError where two results would be written into one file."""
    taken: dict[Path, str] = {}
    for name in ("json", "ledger", "page"):
        path = getattr(options, name)
        if path is not None and taken.setdefault(path.resolve(), name) != name:
            other = taken[path.resolve()]
            raise UserError(f"--{other} and --{name} are both {path}: name a file for each")


def check_policies(settings: EvaluationSettings) -> None:
    """Raise a UserError for a policy that has learned another skill than it shall play."""
    for name, source in skill_sources(settings.skills, settings.task).items():
        if isinstance(source, Path):
            learned = settings.task if name == MONOLITHIC else name
            check_metadata(source, read_metadata(source), learned)


def settings_from(options: argparse.Namespace) -> EvaluationSettings:
    """The settings that a command line asks for."""
    output = options.output or Path("runs") / "eval" / options.task
    return EvaluationSettings(
        task=options.task,
        split=options.split,
        episodes=options.episodes,
        seed=options.seed,
        skills=options.skills,
        navigate=not options.no_nav,
        close=options.close,
        engine=options.engine,
        validate_plans=options.validate_plans,
        video_directory=output if options.video else None,
        record_hand_offs=options.record_hand_offs is not None,
        executive=ExecutiveSettings(
            navigate_timeout_ends=options.navigate_timeout == "end",
            redrives=options.redrive,
            least_chance=options.least_chance,
            timeouts=options.timeouts,
        ),
        replanning=ReplanSettings(limit=options.replan),
        knowledge=options.knowledge,
        sim=options.sim,
        homes=options.homes,
        robot=robot_of(options.skills, options.task, options.robot),
    )
