"""Places of episodes: floor plans, over which intervals are taken, and the apartments on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skills.command import counted


def plan_of(result: Mapping[str, Any]) -> str:
    """The floor plan on which an episode took place: of an apartment, or of a building of `nav`.

    Args:
        result: Has `layout` and `variation`, or `building`; else all are taken for one plan.
    """
    if "layout" in result:
        return str(result["layout"])
    return str(result.get("building", "")).partition("_variation")[0]


def plans_of(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """The floor plan of each episode."""
    return [plan_of(result) for result in results]


def count_places(results: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Count the plans and apartments of episodes; empty where results do not tell."""
    names = ("layout", "variation", "building")
    homes = {tuple(result.get(name) for name in names) for result in results}
    if not homes or homes == {(None,) * len(names)}:
        return {}
    return {"plans": len(set(plans_of(results))), "apartments": len(homes)}


def places_of(entry: Mapping[str, Any]) -> dict[str, int]:
    """As `count_places`, of a result in JSON: from its short rows, or from its records."""
    table = entry.get("per_episode", {})
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table.get("rows", ())]
    return count_places(rows or entry.get("records", ()))


def told_places(found: Mapping[str, Any]) -> str:
    """For example ", 1 plan, 21 apartments"; nothing where that is not known."""
    if "plans" not in found:
        return ""
    nouns = {"plans": "plan", "apartments": "apartment"}
    return "".join(f", {counted(found[name], noun)}" for name, noun in nouns.items())
