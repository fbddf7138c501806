"""`python -m skills.cards`: a page for each skill, docs/skills/SKILL.md, from code, config and results.

`--check` writes nothing, names the pages that are not as it would write them, and ends with 1 if there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from atomic_files import write_whole
from rearrange.command_line import OneLineParser
from skills.command import run_command
from skills.figures import load_ledger
from skills.names import names_of
from skills.provenance import ROOT, checksum
from skills.recipe import differences, trained_stages
from skills.registry import built_in, shipped_policy
from skills.settings import CHECKPOINTS
from skills.tasks_table import SECTIONS
from skills.train import config_of, load_stages
from ver import load_policy

FOLDER = Path("docs", "skills")
ROWS = {  # of an evaluation with --sanity
    "policy": "the policy, in the episodes of the rows below",
    "blind": "the policy, blind",
    "swapped": "the policy, with another world's image",
    "random": "random actions",
    "oracle": "the oracle",
}
OLDER_DETOURS = (
    "Detours here: starts from which a straight drive is stopped before the target is in reach.\n"
)
HEAD = re.compile(r"[A-Z][a-z]+( \[\d+\]| \([^)]*\))?:")  # of a paragraph in a task's docstring


class Setting(NamedTuple):
    """A line of a config: dotted key, value as it is written, and the comment above it."""

    key: str
    value: str
    why: str


def settings_of(text: str) -> list[Setting]:
    """The settings of a YAML file with their comments; groups only where they have one.

    Args:
        text: Block style, keys and lists alone; the elements of a list of groups are told by their `name`.
    """
    found: list[Setting] = []
    path: list[tuple[int, str]] = []  # indentation and name of the groups around
    why: list[str] = []
    for line in text.splitlines():
        words, indent = line.strip(), len(line) - len(line.lstrip())
        if words.startswith("#"):
            why.append(words.lstrip("# "))
            continue
        if not words:
            why = []
            continue
        while path and path[-1][0] >= indent:
            path.pop()
        is_element = words.startswith("- ")
        words = words.removeprefix("- ")
        key, colon, value = words.partition(":")
        dotted = ".".join(name for _, name in path)
        if is_element and not colon:  # of a plain list, which follows its key
            last = found.pop()
            found.append(last._replace(value=f"{last.value}, {words}".removeprefix(", ")))
            continue
        if is_element:
            path.append((indent, value.strip()))
            found.append(Setting(f"{dotted}.{value.strip()}", "", " ".join(why)))
        else:
            path.append((indent, key))
            found.append(Setting(f"{dotted}.{key}".lstrip("."), value.strip(), " ".join(why)))
        why = []
    return [each for each in found if each.value or each.why]


def about(task: type[Any]) -> Iterator[str]:
    """Paragraphs of the docstring of a task's module."""
    text = (sys.modules[task.__module__].__doc__ or "").strip()
    paragraph: list[str] = []
    for line in text.splitlines():
        if (not line.strip() or HEAD.match(line)) and paragraph:
            yield " ".join(paragraph)
            paragraph = []
        if line.strip():
            paragraph.append(line.strip())
    yield " ".join(paragraph)


def _percent(value: Mapping[str, float]) -> str:
    return f"{100 * value['mean']:.1f} [{100 * value['low']:.1f}, {100 * value['high']:.1f}]"


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return [*lines, *("| " + " | ".join(map(_cell, row)) + " |" for row in rows), ""]


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("<", "&lt;")


def _measured(name: str, ledger: Mapping[str, Any], shipped: str) -> tuple[dict[str, Any], ...]:
    """Entries of a skill: those of the shipped policy, and those of others.

    Args:
        name: Of the skill.
        ledger: Name -> entry.
        shipped: Checksum of the shipped policy; "" where none is.
    """
    entries = {key: each for key, each in ledger.items()
               if each.get("skill") == name and "success_at_end" in each}  # fmt: skip
    own = {key: each for key, each in entries.items()
           if shipped in each["made"]["checkpoints"].values()}  # fmt: skip
    return own, {key: each for key, each in entries.items() if key not in own}


def _results(name: str, own: Mapping[str, Any]) -> Iterator[str]:
    """Tables of all that was measured of the shipped policy."""
    if name in own:
        yield from _summary(own[name])
    if own:
        yield "All that was measured of the shipped policy, each by its command and in the world of its day:\n"
        yield from _commands(own)
    else:
        yield "The shipped policy was not evaluated yet.\n"


def _studies(others: Mapping[str, Any]) -> Iterator[str]:
    """Table of all that was measured of other policies."""
    if others:
        yield "## Studies\n"
        yield "Of other policies, none of which is shipped:\n"
        yield from _commands(others)


def _summary(entry: Mapping[str, Any]) -> Iterator[str]:
    """Success of the policy and of those that it is compared with, and why it failed."""
    yield "Success in homes that nothing was trained in, in per cent, with 95 % intervals.\n"
    rows = [(ROWS[who], row["episodes"], _percent(row["success_at_end"]))
            for who, row in entry.get("rows", {}).items()]  # fmt: skip
    whole = ("the policy", entry["episodes"], _percent(entry["success_at_end"]))
    starts = entry.get("starts", {}) if "detour" in entry.get("starts", {}) else {}
    parts = [(f"the policy, {kind} starts", each["episodes"], _percent(each["success_at_end"]))
             for kind, each in starts.items()]  # fmt: skip
    receptacles = entry.get("receptacles", {})
    parts += [(f"the policy, at {where.replace('_', ' ')}", each["episodes"], _percent(each["success_at_end"]))
              for where, each in receptacles.items()]  # fmt: skip
    rows = [whole, *parts, *(row for row in rows if row[:2] != whole[:2])]
    yield from _table(("who", "episodes", "success"), rows)
    if starts and not receptacles:
        yield OLDER_DETOURS
    failures = ", ".join(
        f"{cause.replace('_', ' ')} {count}" for cause, count in entry["failures"].items()
    )
    yield f"Of {entry['episodes']} episodes failed by: {failures or 'none'}.\n"


def _commands(entries: Mapping[str, Any]) -> list[str]:
    rows = [(f"[{key}](../../results/{key}.json)", each["made"]["date"][:10], f"`{each['made']['command']}`",
             each["episodes"], _percent(each["success_at_end"])) for key, each in entries.items()]  # fmt: skip
    return _table(("file", "day", "command", "episodes", "success"), rows)


def _curve(name: str) -> str:
    """The picture of the training that made the shipped policy, where there is one."""
    picture = ROOT / FOLDER / f"{name}.png"
    if picture.is_file():
        return f"![Success and failures of its training against steps]({picture.name})"
    return "There is no curve of its training: the log was not kept."


def _senses(name: str, observation: str) -> list[str]:
    """Its observations, and the names that settings may use for their numbers and its actions."""
    names = names_of(name)
    rows = [(f"`{key}`", ", ".join(names.parts[key])) for key in names.sizes]
    rows.append(("the action", ", ".join(names.actions)))
    return [observation, "", *_table(("", "names of the numbers"), rows)]


def _settings_table(head: str, settings: Sequence[Setting]) -> list[str]:
    rows = []
    for key, value, why in settings:
        told = key.removeprefix("stages.").replace(".settings.", ".")
        rows.append((f"`{told}`", f"`{value}`" if value else "", why))
    return _table((head, "value", "why"), rows)


def _of_this_recipe(name: str) -> str:
    """Tell whether the shipped policy was trained by today's recipe, or by its first stages."""
    path = shipped_policy(name, CHECKPOINTS)
    if not path.is_file():
        return "No policy is shipped."
    policy = load_policy(path)
    trained = (policy.metadata.get("recipe") or {}).get("stages", [])
    parts = load_stages(name)
    stages = dict(zip(trained_stages(parts[0]), parts, strict=True))
    if not trained or trained != list(stages)[: len(trained)]:
        return "The shipped policy is older than this recipe."
    others = differences(policy.config, policy.metadata, stages[trained[-1]])
    if others:
        return f"The shipped policy was trained by another one, from before it had today's {', '.join(others)}."
    return f"The shipped policy was trained by it, up to stage `{trained[-1]}`."


def card(name: str, ledger: Mapping[str, Any]) -> str:
    """The page of one of our skills.

    Args:
        name: Its name.
        ledger: Name -> entry, as in results/.
    """
    spec = built_in()[name]
    config = config_of(name)
    settings = settings_of(config.read_text(encoding="utf-8"))
    stages = [each for each in settings if each.key.startswith("stages")]
    others = [each for each in settings if each not in stages]
    lines = [f"# {spec.title.title()}", ""]
    lines += ["`python -m skills.cards` writes this page from code, config and results.", ""]
    told = {re.split(r"\W", paragraph, maxsplit=1)[0]: paragraph for paragraph in about(spec.task)}
    for head, paragraph in told.items():
        lines += [] if head in SECTIONS else [paragraph, ""]
    place = f"../tasks.md#{spec.heading.lower().replace(' ', '-')}"
    lines += [f"[Tasks]({place}) says what it may do, where it starts and what success is.", ""]
    lines += ["## What it sees and does", "", *_senses(name, told["Observation"])]
    policy = shipped_policy(name, CHECKPOINTS)
    shipped = checksum(policy) if policy.is_file() else ""
    own, studies = _measured(name, ledger, shipped)
    lines += ["## Results", "", _curve(name), "", *_results(name, own)]
    lines += [
        "## Recipe",
        "",
        f"`configs/{config.name}` changes what `configs/skill.yaml` says of all skills.",
    ]
    lines += [each.why.partition(". ")[2] for each in stages if each.key == "stages"]
    lines += [_of_this_recipe(name), ""]
    lines += _settings_table("stage and setting", [each for each in stages if each.key != "stages"])
    lines += ["In all stages:", "", *_settings_table("setting", others)]
    trained = f"runs/{name}/policy.safetensors"
    lines += [
        *("## Commands", "", "```"),
        f"rearrange train {name}",
        f"rearrange eval {name} --checkpoint {trained} --actions mean --sanity",
        f"rearrange film {name} --checkpoint {trained}",
        f"rearrange record {name} --skills oracle",
        *(
            "```",
            "",
            "[Training](../training.md) has the rest, [hab.md](../hab.md) the numbers of the task.",
            "",
        ),
        *_studies(studies),
    ]
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Page, relative to the root -> its text."""
    ledger = load_ledger(ROOT / "results")
    return {FOLDER / f"{name}.md": card(name, ledger) for name in built_in()}


def main(arguments: Sequence[str]) -> int:
    """Write or check."""
    parser = OneLineParser(prog="skills.cards", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is not up to date")
    options = parser.parse_args(arguments)
    stale = 0
    for page, text in pages().items():
        path = ROOT / page
        if not options.check:
            write_whole(path, text)
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{page}: not as python -m skills.cards makes it")
            stale += 1
    return int(stale > 0)


if __name__ == "__main__":
    run_command(main)
