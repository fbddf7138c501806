"""`python -m planner.page RESULT.json ... --output report.html`: an evaluation as one web page.

The page holds everything itself, films included, and opens from a file without a network. Several
results of one task stand side by side in the first chart; the rest is about each of them.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from atomic_files import write_whole
from planner import charts
from planner.charts import Segment, Series, Start
from planner.judge import EXHAUSTED
from planner.labels import REARM, label_of, legend
from planner.report import read_result
from planner.table import method_name
from rearrange.command_line import OneLineParser, output_file
from rearrange.errors import UserError
from skills.command import counted, run_command, short_path
from skills.places import places_of, told_places
from skills.registry import effect_of
from skills.statistics import Proportion

SUCCESSES, FAILURES = 2, 4  # films shown
LARGEST_FILM = 6 * 2**20  # bytes
TIMELINES = 40  # shown at once; the rest is folded away
RINGS = tuple(0.25 * k for k in range(1, 9))  # [m]
FILMS = """White box: the object to be picked up; green ghost: where it shall go; grey sphere: where Navigate is
sent; amber box: the handle to be used. Depth: near is light, far is dark, up to 5 m. Map: the robot and its way
in blue, a red disc where the object stood, a green ring where it shall go. Dots: the steps of the plan, green
done, amber now, red with a fault."""
FULL = "full task"
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#0f172a;max-width:920px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem;margin-bottom:.2rem}h2{margin-top:2.4rem;border-bottom:1px solid #e2e8f0}
h3{margin:1.4rem 0 .4rem;font-size:1rem}svg{width:100%;height:auto;display:block}
svg text{font-size:11px;fill:#334155}svg .small{font-size:10px}svg .faint{fill:#64748b;font-size:10px}
svg .grid{stroke:#e2e8f0}svg .cell{stroke:#cbd5e1;stroke-width:.7}
.cards{display:flex;gap:1rem;flex-wrap:wrap}.card{border:1px solid #e2e8f0;border-radius:8px;
padding:.7rem 1rem;flex:1 1 14rem;max-width:20rem}.card b{font-size:1.5rem;display:block}.muted{color:#64748b}
.key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin:0 .35em 0 1em}
.maps,.films{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(400px,100%),1fr));gap:1rem}
.bars{display:grid;grid-template-columns:auto 1fr auto;gap:.4rem .8rem;align-items:center}
.bars i{height:1rem;border-radius:2px}
.chart{overflow-x:auto}.chart svg{min-width:600px}svg .tick{stroke:#64748b}
video{width:100%;background:#000}figure{margin:0}figcaption{font-size:.85rem;color:#475569}
code{background:#f1f5f9;padding:.1em .3em;border-radius:3px;overflow-wrap:anywhere}
.row{display:grid;grid-template-columns:11rem 1fr;column-gap:1rem;align-items:center;font-size:.8rem}
@media(max-width:600px){.row{grid-template-columns:1fr;margin-top:.4rem}.row .axis text{font-size:20px}}
"""


def page(results: Sequence[dict[str, Any]], folder: Path = Path()) -> str:
    """The page as HTML.

    Args:
        results: Of one task, from `planner.eval --json`.
        folder: Where relative paths of films begin.

    Raises:
        UserError: The results are of different tasks.
    """
    tasks = sorted({result["task"] for result in results})
    if len(tasks) > 1:
        raise UserError(f"the results are of different tasks: {', '.join(tasks)}; give one's only")
    title = tasks[0].replace("_", " ").title()
    longest = max(record["steps"] for result in results for record in result["records"])
    body = [f"<h1>{escape(title)}</h1>", _cards(results), _comparison(results)]
    for result in results:
        body += [f"<h2>{escape(_name(result))}</h2>", _failures(result), _maps(result)]
        body += [_timelines(result, longest), _films(result, folder), _origin(result)]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        + "\n".join(part for part in body if part)
        + "</body></html>\n"
    )


def _name(result: dict[str, Any]) -> str:
    return f"{method_name(result)}, {counted(result['episodes'], result['split'] + ' episode')}"


def _rate(values: dict[str, float]) -> Proportion:
    return Proportion(values["mean"], values["low"], values["high"])


def _rates(result: dict[str, Any]) -> dict[str, Proportion]:
    """At the end, by interaction: two results need not have the same ones."""
    rates = {each["name"]: _rate(each["success_at_end"]) for each in result["interactions"]}
    return rates | {FULL: _rate(result["full_task"]["success_at_end"])}


def _cards(results: Sequence[dict[str, Any]]) -> str:
    cards = []
    for result in results:
        rate = _rate(result["full_task"]["success_at_end"])
        once = result["full_task"]["success_once"]["mean"]
        places = told_places(places_of(result))
        cards.append(
            f'<div class="card">{escape(method_name(result))}<b>{rate.mean:.1%}</b>'
            f'<span class="muted">{100 * rate.low:.1f} to {100 * rate.high:.1f} % of '
            f"{counted(result['episodes'], 'episode')}{places} in full at the end; "
            f"{once:.1%} once</span></div>"
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _comparison(results: Sequence[dict[str, Any]]) -> str:
    longest = max(results, key=lambda result: len(result["interactions"]))
    found = [_rates(result) for result in (longest, *results)]
    names = dict.fromkeys(name for rates in found for name in rates if name != FULL)
    places = [*names, FULL]
    lines = [
        Series(_name(result), tuple(rates.get(place) for place in places))
        for result, rates in zip(results, found[1:], strict=True)
    ]
    keys = "".join(
        f'<span class="key" style="background:{charts.COLORS[k % len(charts.COLORS)]}"></span>'
        f"{escape(line.name)}"
        for k, line in enumerate(lines)
    )
    chart = charts.line_chart(places, lines, "success after every interaction")
    return (
        "<h2>Success after every interaction</h2><p class='muted'>At the end of the episode: an "
        "interaction counts if it and all before it succeeded and what was placed is still so; the full "
        "task is judged by the state alone. Bars: 95 % intervals over plans.</p>"
        f"{_wide(chart)}<p>{keys}</p>"
    )


def _wide(chart: str) -> str:
    """A chart that is scrolled on small screens, for its text stays legible."""
    return f'<div class="chart">{chart}</div>'


def _failures(result: dict[str, Any]) -> str:
    if not result["failures"]:
        return "<p>No episode failed.</p>"
    chart = charts.bar_chart(result["failures"], result["episodes"])
    # As in `Execution.failure`; the key is not in older files.
    replans = result.get("replanning")
    heading = "Why unfinished episodes ended" if replans else "What went wrong first"
    told = ""
    if EXHAUSTED in result["failures"]:
        told = (
            f"<p class='muted'>{EXHAUSTED.capitalize()}: the plan came to its end, no fault was noticed, "
            "and the goal is not met.</p>"
        )
    return f"<h3>{heading}</h3>{chart}{told}"


def starts_of(result: dict[str, Any]) -> dict[str, list[Start]]:
    """Collect the start of each interacting skill, as the navigation before it left the robot."""
    starts: dict[str, list[Start]] = {}
    for record in result["records"]:
        before: dict[str, Any] | None = None
        for hand_off in record["hand_offs"]:
            if hand_off["skill"] == REARM:
                continue
            follows = before is not None and effect_of(before["skill"]) == "arrives"
            if follows and effect_of(hand_off["skill"]) != "arrives":
                assert before is not None
                starts.setdefault(hand_off["skill"], []).append(
                    Start(before["distance"], before["heading"], hand_off["deviation"] is None)
                )
            before = hand_off
    return starts


def _maps(result: dict[str, Any]) -> str:
    figures = []
    for skill, starts in starts_of(result).items():
        share = sum(start.success for start in starts) / len(starts)
        chart = charts.hand_off_map(starts, f"hand-offs to {skill}", RINGS)
        figures.append(
            f"<figure>{chart}<figcaption>{escape(skill)}: {share:.0%} of {len(starts)} without a "
            "fault</figcaption></figure>"
        )
    if not figures:
        return ""
    return (
        "<h3>Hand-offs</h3><p class='muted'>Where the target was when navigation handed over, seen from "
        "above by the robot, which looks up. Colour: how often the next skill went without a fault; "
        f"numbers: of how many, paler below {charts.MANY}.</p><div class='maps'>{''.join(figures)}</div>"
    )


def _timelines(result: dict[str, Any], longest: int) -> str:
    """Every episode, at a scale on which `longest` steps fill the page."""
    rows = []
    for record in result["records"]:
        segments = [
            Segment(h["skill"], h["steps"], h["deviation"], h["label"]) for h in record["hand_offs"]
        ]
        said = f"{record['index']}: {record['failure'] or 'done'}"
        chart = charts.timeline(segments, longest, f"episode {said}")
        row = f'<div class="row"><span>{escape(said)}</span>{chart}</div>'
        rows.append(row + _decisions(record))
    used = {h["skill"] for record in result["records"] for h in record["hand_offs"]}
    keys = "".join(
        f'<span class="key" style="background:{label_of(skill).colour}"></span>'
        f"{skill.replace('_', ' ')}"
        for skill in legend()
        if skill in used
    )
    rest = "".join(rows[TIMELINES:])
    folded = (
        f"<details><summary>{len(rows) - TIMELINES} more</summary>{rest}</details>" if rest else ""
    )
    axis = charts.time_axis(longest)
    axis = f'<div class="row"><span>steps (seconds)</span><div class="axis">{axis}</div></div>'
    return (
        f"<h3>Episodes</h3><p>{keys}<span class='key' style='background:{charts.FAULT}'></span>"
        f"a fault</p><p class='muted'>Skills alone: what the robot does between them, backing off, looking and "
        f"standing at the end, is left out.</p>{axis}{''.join(rows[:TIMELINES])}{folded}"
    )


def _decisions(record: dict[str, Any]) -> str:
    """List the episode's replanning decisions, folded away; empty where there were none."""
    decisions = record.get("decisions")  # not in older files
    if not decisions:
        return ""
    lines = "".join(f"<li>step {d['step']}: {escape(d['text'])}</li>" for d in decisions)
    return (
        f"<details><summary>what was decided ({len(decisions)})</summary><ul>{lines}</ul></details>"
    )


def _films(result: dict[str, Any], folder: Path) -> str:
    wanted = {True: SUCCESSES, False: FAILURES}
    figures = []
    for record in result["records"]:
        success = bool(record["success_at_end"])
        path = folder / record["video"] if record.get("video") else None
        if path is None or not wanted[success] or not path.is_file():
            continue
        if path.stat().st_size > LARGEST_FILM:
            continue
        wanted[success] -= 1
        film = base64.b64encode(path.read_bytes()).decode()
        caption = f"Episode {record['index']}: {record['failure'] or 'everything in its place'}"
        figures.append(
            f'<figure><video controls preload="metadata" src="data:video/mp4;base64,{film}"></video>'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    if not figures:
        return ""
    legend = f"<p class='muted'>{FILMS}</p>"
    return f"<h3>Films</h3>{legend}<div class='films'>{''.join(figures)}</div>"


def _origin(result: dict[str, Any]) -> str:
    skills = ", ".join(
        f"{name}: {short_path(source)}" for name, source in result.get("skills", {}).items()
    )
    made = result["made"]
    machine = made["machine"]
    return (
        f"<h3>How to repeat it</h3><p><code>{escape(made['command'])}</code></p>"
        f"<p class='muted'>Skills: {escape(skills)}. Episodes: {escape(str(result.get('dataset')))}, "
        f"seed {result.get('seed')}. Machine: {escape(str(machine.get('cpu')))}, "
        f"{machine.get('cores')} cores. The apartments are generated; they are not ReplicaCAD's.</p>"
    )


def main(arguments: Sequence[str]) -> int:
    """Write a page."""
    parser = OneLineParser(prog="planner.page", description=__doc__)
    parser.add_argument(
        "results", nargs="+", type=Path, help="files that planner.eval --json wrote"
    )
    parser.add_argument(
        "--output", type=output_file, help="default: report.html beside the first result"
    )
    options = parser.parse_args(arguments)
    output = options.output or options.results[0].with_name("report.html")
    if output.resolve() in [path.resolve() for path in options.results]:
        raise UserError(f"--output {output} is one of the results: choose another file")
    write_whole(output, page([read_result(path) for path in options.results]))
    print(f"page: {short_path(output)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    run_command(main)
