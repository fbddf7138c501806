"""Results of an evaluation: a summary for machines, a table for people."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table

from planner.evaluation import EpisodeRecord, EvaluationSettings
from planner.interactions import OBJECT_AT_DISTANCE
from planner.judge import WRONG_OBJECT
from planner.planning import PlanRecord
from rearrange.episodes import shown
from rearrange.errors import UserError
from rearrange.robot import DEFAULT_ROBOT
from rearrange.tasks import household_names
from skills.command import counted, short_path
from skills.modes import MODES, MONOLITHIC, parse_modes
from skills.places import count_places, told_places
from skills.registry import effect_of
from skills.statistics import Proportion, proportion

LIVE_ROWS = 15
SCRIPTED = "scripted"  # source of skills that are no one's achievement (reset_arm)
FIGURES = ("task", "row", "interactions", "full_task", "failures", "made")  # of a result
NEEDED = (*FIGURES, "records")


def summarize(
    settings: EvaluationSettings, records: Sequence[EpisodeRecord], made: dict[str, Any]
) -> dict[str, Any]:
    """Everything that the evaluation found, as plain data.

    Args:
        settings: What was evaluated.
        records: One per episode, in any order.
        made: Its origin, see skills.provenance.
    """
    records = sorted(records, key=lambda record: record.index)
    failures = Counter(r.execution.failure for r in records if r.execution.failure)
    return {
        "made": made,
        "task": settings.task,
        "row": row_name(settings),
        "split": settings.split,
        "homes": settings.homes,
        "robot": settings.robot,
        "episodes": len(records),
        **count_places([vars(record) for record in records]),
        "seed": settings.seed,
        "dataset": shown(settings.dataset),
        "skills": _sources(records),
        "sim": settings.sim,
        "navigate": settings.navigate,
        "close": settings.close,
        "full_task": {
            "success_at_end": _rate([r.execution.success_at_end for r in records], records),
            "success_once": _rate([r.execution.success_once for r in records], records),
        },
        "interactions": _interactions(records),
        "failures": dict(failures.most_common()),
        "wrong_object": _wrong_objects(records),
        "replanning": _replanning(settings, records),
        "redrives": _redrives(settings, records),
        "steps": _spread([float(r.execution.steps) for r in records]),
        "engine": settings.engine,
        "planning_seconds": _times([r.plan_seconds for r in records]),
        "parsing_seconds": _times([r.problem_seconds for r in records]),
        "plan_length": _spread([float(len(r.plan)) for r in records]),
        "object_at_distance": OBJECT_AT_DISTANCE,
        "executive": asdict(settings.executive),
        "knowledge": settings.knowledge,
        "records": [_record(record) for record in records],
    }


def summarize_plans(
    settings: EvaluationSettings, records: Sequence[PlanRecord], made: dict[str, Any]
) -> dict[str, Any]:
    """As `summarize`, of plans that were not followed."""
    return {
        "made": made,
        "task": settings.task,
        "split": settings.split,
        "homes": settings.homes,
        "robot": settings.robot,
        "episodes": len(records),
        "seed": settings.seed,
        "dataset": shown(settings.dataset),
        "sim": settings.sim,
        "navigate": settings.navigate,
        "close": settings.close,
        "engine": settings.engine,
        "validated": settings.validate_plans,
        "planning_seconds": _times([r.plan_seconds for r in records]),
        "parsing_seconds": _times([r.problem_seconds for r in records]),
        "plan_length": _spread([float(len(r.plan)) for r in records]),
        "records": [asdict(record) for record in records],
    }


def without_records(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary for the ledger: of every episode one short row, instead of plan and hand-offs.

    `interactions` there has a digit for each: 2 where it succeeded at the end, 1 once, 0 never.
    """
    names = ("index", "layout", "variation", "success_at_end", "success_once", "steps", "failure")
    rows = []
    for record in summary["records"]:
        done = "".join(str(i["once"] + i["at_end"]) for i in record["interactions"])
        values = [int(v) if isinstance(v, bool) else v for v in (record[name] for name in names)]
        rows.append([*values, done])
    table = {"columns": [*names, "interactions"], "rows": rows}
    kept = {name: value for name, value in summary.items() if name != "records"}
    return kept | {"per_episode": table}


def read_result(path: Path, needed: Sequence[str] = NEEDED) -> dict[str, Any]:
    """Read a result of `planner.eval --json`; or of `--ledger`, then with FIGURES alone.

    Raises:
        UserError: The file is something else.
    """
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as a result: {error}") from None
    missing = [name for name in needed if not isinstance(result, dict) or name not in result]
    if missing or result["task"] not in household_names():
        wrong = f"it has no '{missing[0]}'" if missing else f"its task is '{result['task']}'"
        raise UserError(
            f"{path} is no result of an evaluation, {wrong}: make one with "
            "python -m planner.eval TASK --json PATH, without --plan-only"
        )
    return result


def plan_lines(summary: dict[str, Any]) -> str:
    """Sum up planning in three lines."""
    valid = ", all of them valid" if summary["validated"] else ""
    return f"{summary['task']}: {summary['episodes']} planned{valid}; {_planning_line(summary)}"


def row_name(settings: EvaluationSettings) -> str:
    """Return this evaluation's name in a table over several: "TP-SRL", "TP-SRL (NoNav)", ..."""
    mode, exceptions = parse_modes(settings.skills)
    name = MODES[mode]
    additions = {
        **{
            f"{skill}: {Path(what).stem}": skill != MONOLITHIC for skill, what in exceptions.items()
        },
        "NoNav": not settings.navigate,
        "closing": settings.close,
        f"robot: {settings.robot}": settings.robot != DEFAULT_ROBOT,
        "habitat-sim": settings.sim == "habitat",
        "late drives go on": settings.navigate and not settings.executive.navigate_timeout_ends,
        f"at most {_limits(settings)} steps a skill": bool(settings.executive.timeouts),
        "replanning": settings.replanning.limit > 0,
        f"drives anew below {settings.executive.least_chance:g}": settings.executive.redrives > 0,
        f"knowledge: {settings.knowledge}": True,
    }
    for addition in (addition for addition, holds in additions.items() if holds):
        name = f"{name[:-1]}, {addition})" if name.endswith(")") else f"{name} ({addition})"
    return name


def _limits(settings: EvaluationSettings) -> str:
    """The limits that hold for all players' skills; "" where each has its own."""
    steps = sorted(set(settings.executive.timeouts.values()))
    return " or ".join(map(str, steps))


def summary_tables(summary: dict[str, Any]) -> RenderableType:
    """The tables that end an evaluation."""
    full = summary["full_task"]
    closing = ", closing" if summary["close"] else ""
    results = Table(
        title=f"{summary['task']}{closing}, {summary['split']} split, "
        f"{counted(summary['episodes'], 'episode')}{told_places(summary)}: {escape(summary['row'])}",
        caption=f"skills: {escape(_skill_line(summary['skills']))}\n{_planning_line(summary)}",
        caption_justify="left",
    )
    results.add_column("interaction")
    results.add_column("success once, 95 % interval over plans", justify="right")
    results.add_column("at the end", justify="right")
    for interaction in summary["interactions"]:
        success, at_end = interaction["success"], interaction["success_at_end"]
        results.add_row(interaction["name"], _text(success), _text(at_end))
    results.add_section()
    results.add_row("full task", _text(full["success_once"]), _text(full["success_at_end"]))
    if not summary["failures"]:
        return results
    causes = Table("failure", "episodes")
    for cause, count in summary["failures"].items():
        causes.add_row(cause, str(count))
    wrong = summary["wrong_object"]
    causes.caption = f"wrong objects picked: {wrong['wrong']} of {wrong['picks']}"
    if replanning := summary["replanning"]:
        causes.caption += f"\n{replanning_line(replanning)}"
    if redrives := summary["redrives"]:
        causes.caption += f"\n{redrives_line(redrives)}"
    causes.caption_justify = "left"
    return Group(results, causes)


def replanning_line(replanning: dict[str, Any]) -> str:
    """Sum up the limits and use of replanning in one line."""
    return (
        f"replanning, at most {replanning['limit']} new plans after faults: plans changed "
        f"{counted(replanning['new_plans'], 'time')} in {counted(replanning['episodes'], 'episode')}"
    )


def redrives_line(redrives: dict[str, int]) -> str:
    """Sum up the limit and use of new drives in one line."""
    return (
        f"driving anew, at most {redrives['limit']} times in a row: "
        f"{redrives['drives']} in {counted(redrives['episodes'], 'episode')}"
    )


def episode_table(records: Sequence[EpisodeRecord], total: int) -> Table:
    """The live table: the episodes that finished last, as many as fit on a small screen."""
    caption = f"{len(records)} of {counted(total, 'episode')}"
    if not records:  # nothing else moves on the screen for that long
        caption += ": they begin once all is loaded, and compiled where it is new"
    table = Table(caption=caption, caption_justify="left")
    for name, justify in (
        ("episode", "right"),
        ("apartment", "left"),
        ("interactions", "right"),
        ("steps", "right"),
        ("plan", "right"),
        ("time", "right"),
        ("result", "left"),
    ):
        table.add_column(name, justify=justify)  # pyright: ignore[reportArgumentType]
    for record in records[-LIVE_ROWS:]:
        failure = record.execution.failure
        table.add_row(
            str(record.index),
            f"{record.layout}/{record.variation:02d}",
            interaction_count(record),
            str(record.execution.steps),
            f"{1000 * record.plan_seconds:.0f} ms",
            f"{record.wall_seconds:.1f} s",
            f"[red]{failure}[/red]" if failure else "[green]done[/green]",
        )
    return table


def episode_line(record: EpisodeRecord) -> str:
    """One finished episode where there is no terminal."""
    return (
        f"episode {record.index}: {interaction_count(record)} interactions, "
        f"{record.execution.steps} steps, {record.wall_seconds:.1f} s, "
        f"{record.execution.failure or 'done'}"
    )


def interaction_count(record: EpisodeRecord) -> str:
    """For example "7/10"."""
    results = record.execution.interactions
    return f"{sum(result.once for result in results)}/{len(results)}"


def print_summary(summary: dict[str, Any], console: Console) -> None:
    """Prints the closing tables."""
    console.print(summary_tables(summary))


def _rate(outcomes: Sequence[bool], records: Sequence[EpisodeRecord]) -> dict[str, float]:
    return proportion(outcomes, [record.layout for record in records]).as_json()


def _text(rate: dict[str, float]) -> str:
    return str(Proportion(**rate))


def _sources(records: Sequence[EpisodeRecord]) -> dict[str, str]:
    used = {h.skill for r in records for h in r.execution.hand_offs}
    sources = {name: s for r in records for name, s in r.skills.items()}
    return {n: s for n, s in sources.items() if s != SCRIPTED and (n in used or not used)}


def _skill_line(sources: dict[str, str]) -> str:
    return ", ".join(f"{name} {short_path(source)}" for name, source in sources.items())


def _planning_line(summary: dict[str, Any]) -> str:
    """Times of the planner alone and of unified-planning's reading of the PDDL."""
    solving, parsing = (
        f"median {1000 * times['median']:.0f} ms, worst {1000 * times['worst']:.0f} ms"
        for times in (summary["planning_seconds"], summary["parsing_seconds"])
    )
    length = summary["plan_length"]["median"]
    return f"plans of {length:.0f} steps\nplanning took: {solving}\nreading the PDDL: {parsing}"


def _wrong_objects(records: Sequence[EpisodeRecord]) -> dict[str, int]:
    """Count the picks told of as another object's, failed or not; what a limit has ended is told of as that."""
    picks = [h for r in records for h in r.execution.hand_offs if effect_of(h.skill) == "holds"]
    return {"wrong": sum(h.deviation == WRONG_OBJECT for h in picks), "picks": len(picks)}


def _replanning(
    settings: EvaluationSettings, records: Sequence[EpisodeRecord]
) -> dict[str, Any] | None:
    """The settings, how many new plans and orders there were, and in how many episodes; None without it."""
    if settings.replanning.limit == 0:
        return None
    counts = [sum(d.plan is not None for d in r.execution.decisions) for r in records]
    found = {"new_plans": sum(counts), "episodes": sum(count > 0 for count in counts)}
    return asdict(settings.replanning) | found


def _redrives(
    settings: EvaluationSettings, records: Sequence[EpisodeRecord]
) -> dict[str, int] | None:
    """The limit, how many new drives there were, and in how many episodes; None without any."""
    if settings.executive.redrives == 0:
        return None
    counts = [sum(d.drives_anew for d in r.execution.decisions) for r in records]
    found = {"drives": sum(counts), "episodes": sum(count > 0 for count in counts)}
    return {"limit": settings.executive.redrives, **found}


def _interactions(records: Sequence[EpisodeRecord]) -> list[dict[str, Any]]:
    names: dict[str, None] = {}
    for record in records:
        names.update(dict.fromkeys(i.name for i in record.execution.interactions))
    rows = []
    for name in names:
        found = [(r, i) for r in records for i in r.execution.interactions if i.name == name]
        where = [record for record, _ in found]
        rows.append(
            {
                "name": name,
                "success": _rate([result.once for _, result in found], where),
                "success_at_end": _rate([result.at_end for _, result in found], where),
            }
        )
    return rows


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "max": max(values)}


def _times(seconds: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(seconds), "worst": max(seconds)}


def _record(record: EpisodeRecord) -> dict[str, Any]:
    data = record.execution.as_json()
    return {
        "index": record.index,
        "layout": record.layout,
        "variation": record.variation,
        "plan": list(record.plan),
        "plan_seconds": record.plan_seconds,
        "problem_seconds": record.problem_seconds,
        "expanded": record.expanded,
        "wall_seconds": record.wall_seconds,
        "video": record.video,
        **data,
    }
