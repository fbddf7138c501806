"""Figures of played episodes: success with intervals, causes of failure, and where they began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from skills.places import count_places, plans_of
from skills.start_kinds import DETOUR, RECEPTACLE
from skills.statistics import mean_score, proportion

SCORES = ("spl", "soft_spl", "score_share")  # in [0, 1], of navigation tasks
SUCCESSES = {"success": "success_at_end", "success_once": "success_once"}  # not all tasks have them
HOME = ("layout", "variation", "building")  # where an episode takes place, as far as it has them


def summarise(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Success with intervals, causes of failure and means of the episodes."""
    results = sorted(results, key=lambda result: result["episode"])
    count, plans = len(results), plans_of(results)
    causes = Counter(cause for result in results for cause in causes_of(result))
    means = {
        key: sum(result[key] for result in results) / count
        for key in results[0]
        if key not in (*SUCCESSES, *SCORES, *HOME, "episode", DETOUR, RECEPTACLE)
        and not key.startswith("failure/")
    }
    successes = {
        name: proportion([result[key] > 0 for result in results], plans).as_json()
        for key, name in SUCCESSES.items()
        if key in results[0]
    }
    return {
        **count_places(results),
        **successes,
        "scores": {
            key: mean_score([result[key] for result in results], plans).as_json()
            for key in SCORES
            if key in results[0]
        },
        "starts": _by_start(results),
        "receptacles": _by_receptacle(results),
        "failures": dict(causes.most_common()),
        "means": means,
    }


def causes_of(result: dict[str, Any]) -> list[str]:
    """List the causes of a failed episode."""
    return [
        key.removeprefix("failure/")
        for key, value in result.items()
        if key.startswith("failure/") and value and not result["success"]
    ]


def per_episode(results: Sequence[dict[str, Any]], home: Sequence[str] = HOME) -> dict[str, Any]:
    """A short row for every episode: where, what came of it; so that intervals can be worked out anew."""
    results = sorted(results, key=lambda result: result["episode"])
    kinds = (DETOUR, RECEPTACLE) if home else ()
    kept = ("episode", *home, *kinds, *SUCCESSES, "spl", "score_share", "length")
    names = [name for name in kept if name in results[0]]
    rows = [
        [*(_short(result[name]) for name in names), ", ".join(causes_of(result))]
        for result in results
    ]
    return {"columns": [*names, "failures"], "rows": rows}


def _short(value: Any) -> Any:
    """A number with few digits."""
    if not isinstance(value, (int, float)):
        return value
    return int(value) if float(value).is_integer() else round(float(value), 4)


def _by_start(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Success at the end where the way is straight and where a detour is needed; kinds that occurred."""
    kinds = {"straight": 0.0, "detour": 1.0}
    return {name: part for name, kind in kinds.items() if (part := _part(results, DETOUR, kind))}


def _by_receptacle(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Success at the end for each receptacle on or in which the target was."""
    names = sorted({result[RECEPTACLE] for result in results if RECEPTACLE in result})
    return {name: _part(results, RECEPTACLE, name) for name in names}


def _part(results: Sequence[dict[str, Any]], key: str, value: Any) -> dict[str, Any]:
    """Count of the episodes with a value under a key, and success at the end in them; empty if none."""
    part = [result for result in results if result.get(key) == value]
    if not part:
        return {}
    ends = [result["success"] > 0 for result in part]
    return {"episodes": len(part), "success_at_end": proportion(ends, plans_of(part)).as_json()}


def sanity_row(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A sanity row of the record, without its episodes."""
    summary = summarise(results)
    names = ("plans", "apartments", *SUCCESSES.values())
    kept = {name: summary[name] for name in names if name in summary}
    more = {"failures": summary["failures"]}
    return {"episodes": len(results), **kept, **summary["scores"], **more}
