"""`python -m planner.eval tidy_house`: how well a household task is done.

Plans every episode, lets the skills follow the plan, or one policy do without skills and plan
(`--skills monolithic`), and reports success after every interaction.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live

from atomic_files import write_whole
from planner.evaluation import (
    EpisodeRecord,
    EvaluationSettings,
    run_episodes,
)
from planner.executive import ExecutiveSettings
from planner.hand_offs import write_starts
from planner.journal import Journal, declared_files
from planner.page import page
from planner.planning import plan_episodes
from planner.replanning import NEW_PLANS, ReplanSettings
from planner.report import (
    episode_line,
    episode_table,
    plan_lines,
    print_summary,
    row_name,
    summarize,
    summarize_plans,
    without_records,
)
from planner.running import RunningEpisodes
from planner.search import OWN_ENGINE, engine_names
from rearrange.caching import first_start
from rearrange.command_line import (
    INTERRUPTED,
    OneLineParser,
    check_counts,
    output_console,
    output_file,
    output_folder,
    refuse,
)
from rearrange.declarations import FILE_ENDINGS
from rearrange.episodes import EpisodeSet, find_dataset
from rearrange.errors import UserError
from rearrange.sim.backends import check_simulator_name, make_simulator
from rearrange.tasks import household_names
from rearrange.threads import processors
from skills.command import (
    counted,
    run_command,
    short_path,
    write_json,
)
from skills.knowledge import DEFAULT_LEVEL, LEVELS, check_level
from skills.learned import check_metadata
from skills.library import robot_of, skill_sources
from skills.modes import MONOLITHIC, SKILLS_HELP, parse_modes
from skills.provenance import add_homes, check_homes_asked, made, write_result
from ver import read_metadata


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line; raises UserError where it is wrong."""
    parser = OneLineParser(prog="planner.eval", description=__doc__)
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
    parser.add_argument(
        "--navigate-timeout",
        default="end",
        help="end (default): the episode ends; proceed: the next skill starts where the robot is",
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
        "--knowledge",
        default=DEFAULT_LEVEL,
        metavar="LEVEL",
        help=f"what the robot may know (docs/knowledge.md): {', '.join(LEVELS)}; "
        f"default: {DEFAULT_LEVEL}",
    )
    options = parser.parse_args(arguments)
    _check_options(options)
    return options


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
    _check("task", options.task, household_names())
    check_homes_asked(options)
    mode, _ = parse_modes(options.skills)
    if check_simulator_name(options.sim) != "mujoco":
        if options.video:
            raise UserError("--video draws MuJoCo's worlds: leave it or --sim out")
        make_simulator(options.sim, 1).close()
    _check("navigate-timeout", options.navigate_timeout, ("end", "proceed"))
    check_level(options.knowledge)
    reason = " follows no plan: leave out {option}"
    followed: dict[str, Any] = {"replan": 0, "navigate_timeout": "end", "knowledge": DEFAULT_LEVEL}
    if options.plan_only:
        written = {"ledger": None, "page": None, "video": False, "record_hand_offs": None}
        refuse(options, f"--plan-only{reason}", **written, **followed)
    elif mode == MONOLITHIC:
        of_plans = {"no_nav": False, "record_hand_offs": None}
        refuse(options, f"--skills {MONOLITHIC}{reason}", **of_plans, **followed)
    if options.no_nav:
        refuse(options, "--no-nav has no drives: leave {option} out", navigate_timeout="end")
    if not options.video:
        refuse(options, "{option} is for --video: give that, too, or leave it out", output=None)
    _check_files(options)
    if options.engine != OWN_ENGINE:
        _check("engine", options.engine, engine_names())
    check_counts(options, "episodes", "workers")


def _check_files(options: argparse.Namespace) -> None:
    """Raise a UserError where two results would be written into one file."""
    taken: dict[Path, str] = {}
    for name in ("json", "ledger", "page"):
        path = getattr(options, name)
        if path is not None and taken.setdefault(path.resolve(), name) != name:
            other = taken[path.resolve()]
            raise UserError(f"--{other} and --{name} are both {path}: name a file for each")


def _check_policies(settings: EvaluationSettings) -> None:
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
        executive=ExecutiveSettings(navigate_timeout_ends=options.navigate_timeout == "end"),
        replanning=ReplanSettings(limit=options.replan),
        knowledge=options.knowledge,
        sim=options.sim,
        homes=options.homes,
        robot=robot_of(options.skills, options.task, options.robot),
    )


def main(arguments: Sequence[str]) -> int:
    """Evaluates and reports; returns the exit code."""
    options = parse(arguments)
    settings = settings_from(options)
    _check_policies(settings)
    place = settings.split, settings.episodes, settings.homes, settings.robot
    episodes, line = find_dataset(options.dataset, settings.task, *place)
    settings = replace(settings, dataset=None if episodes is None else episodes.path)
    print(line, flush=True)
    origin = _made(options, settings, arguments)
    if options.plan_only:
        return _plan_only(settings, episodes, options.json, origin)
    with ExitStack() as stack:
        journal, result = None, options.json or options.ledger
        if result is not None:
            journal = stack.enter_context(Journal(result, settings, _files(settings)))
        return _evaluate(options, settings, journal, origin)


def _evaluate(
    options: argparse.Namespace,
    settings: EvaluationSettings,
    journal: Journal | None,
    origin: dict[str, Any],
) -> int:
    console = output_console()
    try:
        records = _run(settings, options.workers or processors(), console, journal)
    except KeyboardInterrupt:
        more = "" if journal is None else "; the same command goes on"
        print(f"interrupted{more}", file=sys.stderr)
        return INTERRUPTED
    summary = summarize(settings, records, origin)
    if options.json is not None:
        write_json(options.json, summary)
    if options.ledger is not None:
        write_result(options.ledger, without_records(summary))
    written = []
    if options.page is not None:
        write_whole(options.page, page([summary]))
        written.append(f"page: {short_path(options.page)}")
    if settings.video_directory is not None:
        written.append(f"videos: {short_path(settings.video_directory)}")
    if options.record_hand_offs is not None:
        records.sort(key=lambda record: record.index)
        starts = [start for record in records for start in record.starts]
        where = (options.record_hand_offs, settings.task, settings.split, settings.seed)
        written += write_starts(starts, *where, origin["command"], settings.robot)
    if journal is not None:
        journal.delete()
    print_summary(
        summary, console
    )  # last: nothing is lost where nobody reads on, as after `| head -1`
    for line in written:
        console.print(line)
    return 0


def _plan_only(
    settings: EvaluationSettings,
    episodes: EpisodeSet | None,
    path: Path | None,
    origin: dict[str, Any],
) -> int:
    if episodes is None:
        raise UserError("--plan-only takes episodes from a file: give one with --dataset")
    records = []
    for record in plan_episodes(settings, episodes):
        records.append(record)
        print(f"episode {record.index}:", *record.plan, sep="\n  ", flush=True)
    summary = summarize_plans(settings, records, origin)
    print(plan_lines(summary))
    if path is not None:
        write_json(path, summary)
    return 0


def _made(
    options: argparse.Namespace, settings: EvaluationSettings, arguments: Sequence[str]
) -> dict[str, Any]:
    sources = skill_sources(settings.skills, settings.task).values()
    policies = [] if options.plan_only else [who for who in sources if isinstance(who, Path)]
    return made(
        "planner.eval", arguments, what=f"{settings.task}: {row_name(settings)}",
        seed=settings.seed, split=settings.split, homes=settings.homes, release=options.release,
        checkpoints=policies,
    )  # fmt: skip


def _files(settings: EvaluationSettings) -> list[Path]:
    """List the files that decide the results besides the code: episodes, policies, homes and robot."""
    files = [] if settings.dataset is None else [settings.dataset]
    for place in (settings.homes, settings.robot):
        files += declared_files(Path(place)) if place.endswith(FILE_ENDINGS) else []
    sources = skill_sources(settings.skills, settings.task)
    return files + [who for who in sources.values() if isinstance(who, Path)]


def _run(
    settings: EvaluationSettings, workers: int, console: Console, journal: Journal | None
) -> list[EpisodeRecord]:
    records = [] if journal is None else list(journal.records.values())
    there = f"; {len(records)} are there already" if records else ""
    print(
        f"{settings.task}: {counted(settings.episodes, f'{settings.split} episode')} in "
        f"{workers} process{'es' * (workers != 1)}{there}{first_start()}",
        flush=True,
    )
    done = {record.index for record in records}
    with ExitStack() as stack:
        running = None
        if console.is_terminal:
            running = RunningEpisodes(settings.episodes)
            show = partial(_progress, records, settings.episodes, running)
            stack.enter_context(Live(get_renderable=show, console=console))
        for record in run_episodes(settings, workers, done, running):
            records.append(record)
            if journal is not None:
                journal.keep(record)
            if running is None:
                print(episode_line(record), flush=True)
    return records


def _progress(
    records: Sequence[EpisodeRecord], total: int, running: RunningEpisodes
) -> RenderableType:
    """Table of the episodes that ended last, and lines of those that go on, for a terminal."""
    lines = running.lines({record.index for record in records})
    return Group(episode_table(records, total), *lines)


def _check(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise UserError(f"unknown {name} '{value}': choose one of {', '.join(choices)}")


if __name__ == "__main__":
    run_command(main)
