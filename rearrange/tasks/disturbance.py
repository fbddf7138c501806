"""What a robot disturbs in a home on its way: doors that it pushes shut, and objects that it moves."""

from __future__ import annotations

from typing import Any

from rearrange import geometry
from rearrange.caching import cached_njit

MOVED_AT_MOST = 0.3  # [m], of an object: what fell is lost, however far


@cached_njit
def pushed_shut(before: Any, now: Any) -> float:
    """How far doors and drawers have gone towards where they are closed, in all [rad, m]."""
    shut = 0.0
    for k in range(len(now)):
        shut += max(before[k] - now[k], 0.0)
    return shut


@cached_njit
def moved(before: Any, now: Any, but: int) -> float:
    """How far objects are from where they were, in all [m].

    Args:
        before: Places [K, 3], m.
        now: Likewise.
        but: The one that does not count; -1: all do.
    """
    away = 0.0
    for k in range(len(now)):
        if k != but:
            away += min(geometry.distance(now[k], before[k]), MOVED_AT_MOST)
    return away
