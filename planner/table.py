"""`python -m planner.table > docs/results.md`: several evaluations in one page.

Takes what `planner.eval` wrote with `--ledger` or `--json`, all that is in results/ unless files are named; one
table per scenario, one row per evaluation, success at the end after every interaction, as in the VER paper's
Figure 6.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.report import FIGURES, read_result, redrives_line, replanning_line
from planner.scenarios import title_of
from rearrange.command_line import OneLineParser
from rearrange.scenes.registry import CLASSIC, DEFAULT_HOMES
from rearrange.tasks import household_names
from skills.command import run_command
from skills.figures import load_ledger
from skills.places import places_of
from skills.provenance import ROOT
from ver.logs import POLICY

INTRODUCTION = """\
# Results on the household scenarios

Made by `python -m planner.table` from [results/](../results/README.md): do not edit. Success is counted
at the end of the episode after every interaction. Each counts only if all before it succeeded, and what
was placed is still so. The full task is judged by the state alone. The plan has come to its end, every
object is at its goal, the hand is empty, and what had to be closed is. In brackets: 95 % intervals, over
floor plans where there are several.

Episodes are in apartments that nothing was trained in. These are ours and not ReplicaCAD's, so figures
are not comparable with published ones. Among the failures "plan exhausted" says that the plan came to
its end, no fault was noticed, and the goal is not met. [The planner](planner.md) says how plans are made
and followed. A row names its file: `former_` is of policies that were shipped before.
"""

FORMER = "former_"  # results of policies that were shipped before: they come last
UNNAMED = f": {Path(POLICY).stem}"  # a policy that no file name tells from others; the details have its file
STUDY = "study_"  # results of what is not shipped: the lab notes tell of them
NOTHING = (
    "Not measured yet in today's world; [older results](lab-notes/results.md) are in the lab notes."
)


def in_ledger(folder: Path) -> list[dict[str, Any]]:
    """The evaluations of household scenarios among the results in a folder, by file name, studies left out."""
    results = load_ledger(folder)
    return [
        {**each, "file": name}
        for name, each in results.items()
        if not name.startswith(STUDY) and all(key in each for key in FIGURES)
    ]


def page(summaries: Sequence[dict[str, Any]]) -> str:
    """The whole page in Markdown."""
    lines = [INTRODUCTION]
    if not summaries:
        lines.append(NOTHING)
    for task in household_names():
        rows = [summary for summary in summaries if summary["task"] == task]
        rows.sort(key=lambda summary: str(summary.get("file", "")).startswith(FORMER))
        if rows:
            lines += [f"## {title_of(task)}", "", *_table(rows), "", *map(_details, rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Interactions in the columns, those of the first evaluation first; one row per evaluation."""
    names = list(dict.fromkeys(each["name"] for row in rows for each in row["interactions"]))
    lines = [
        f"| | n | plans | apartments | {' | '.join(f'`{name}`' for name in names)} | full task |",
        "|---" * (len(names) + 5) + "|",
    ]
    for summary in rows:
        at_end = {x["name"]: x["success_at_end"]["mean"] for x in summary["interactions"]}
        cells = [f"{100 * at_end[name]:.0f}" if name in at_end else "" for name in names]
        found = places_of(summary)
        places = " | ".join(str(found.get(name, "")) for name in ("plans", "apartments"))
        full = summary["full_task"]["success_at_end"]
        interval = f"{100 * full['low']:.1f} to {100 * full['high']:.1f}"
        lines.append(
            f"| {_named(summary)} | {summary['episodes']} | {places} | {' | '.join(cells)} "
            f"| **{100 * full['mean']:.1f} %** ({interval}) |"
        )
    return lines


def _named(summary: dict[str, Any]) -> str:
    """The method, and the file of the results that it is from."""
    file = summary.get("file")
    return f"{method_name(summary)}, `{file}`" if file else method_name(summary)


def method_name(summary: dict[str, Any]) -> str:
    """The method, which skills an oracle stood in for; homes and split if not the usual ones."""
    oracle = ", ".join(name for name, source in summary["skills"].items() if source == "oracle")
    method, _, rest = summary["row"].partition(" (")
    additions = [] if not rest else rest.removesuffix(")").split(", ")
    additions = [each for each in additions if not each.endswith(UNNAMED)]
    if "mixed" in additions:
        additions.remove("mixed")
        additions = [f"oracle {oracle}"] * bool(oracle) + additions
    if (homes := summary.get("homes", CLASSIC)) != DEFAULT_HOMES:  # not in older files
        additions.append(f"{homes} homes")
    if summary["split"] != "val":
        additions.append(f"{summary['split']} split")
    return f"{method} ({', '.join(additions)})" if additions else method


def _details(summary: dict[str, Any]) -> str:
    """Skills, failures, plans and the command of an evaluation."""
    by_source: dict[str, list[str]] = {}
    for name, source in summary["skills"].items():
        by_source.setdefault(Path(source).name, []).append(name)  # a checkpoint's path is no matter
    skills = "; ".join(f"{', '.join(names)}: {source}" for source, names in by_source.items())
    command = re.sub(r" --(json|ledger) \S+", "", summary["made"]["command"])
    failures = ", ".join(f"{count} {name}" for name, count in summary["failures"].items())
    planning, wrong = summary["planning_seconds"], summary["wrong_object"]
    replanning = summary.get("replanning")  # not in older files
    changed = f" {replanning_line(replanning).capitalize()}." if replanning else ""
    if redrives := summary.get("redrives"):  # likewise
        changed += f" {redrives_line(redrives).capitalize()}."
    return (
        f"- **{_named(summary)}** ({skills}). Failures: {failures or 'none'}. Wrong objects: "
        f"{wrong['wrong']} of {wrong['picks']} picks. Planning: median "
        f"{1e3 * planning['median']:.0f} ms, worst {1e3 * planning['worst']:.0f} ms.{changed} `{command}`"
    )


def main(arguments: Sequence[str]) -> int:
    """Print the page."""
    parser = OneLineParser(prog="planner.table", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="default: all in results/")
    options = parser.parse_args(arguments)
    found = [read_result(path, FIGURES) for path in options.files]
    sys.stdout.write(page(found or in_ledger(ROOT / "results")))
    return 0


if __name__ == "__main__":
    run_command(main)
