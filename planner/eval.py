"""`python -m planner.eval tidy_house`: how well a household task is done; see planner.eval_options.

Plays the episodes in several processes, with progress, and writes the results.
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
from planner.eval_options import check_policies, parse, settings_from
from planner.evaluation import (
    EpisodeRecord,
    EvaluationSettings,
    run_episodes,
)
from planner.hand_offs import write_starts
from planner.journal import Journal, declared_files
from planner.page import page
from planner.planning import plan_episodes
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
from rearrange.caching import first_start
from rearrange.command_line import (
    INTERRUPTED,
    output_console,
)
from rearrange.declarations import FILE_ENDINGS
from rearrange.episodes import EpisodeSet, find_dataset
from rearrange.errors import UserError
from rearrange.threads import processors
from skills.command import (
    counted,
    run_command,
    short_path,
    write_json,
)
from skills.initiation import initiation_path
from skills.library import skill_sources
from skills.provenance import made, write_result


def main(arguments: Sequence[str]) -> int:
    """Evaluates and reports; returns the exit code."""
    options = parse(arguments)
    settings = settings_from(options)
    check_policies(settings)
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
    policies = [who for who in sources.values() if isinstance(who, Path)]
    files += policies
    if settings.executive.redrives:
        files += [path for path in map(initiation_path, policies) if path.is_file()]
    return files


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


if __name__ == "__main__":
    run_command(main)
