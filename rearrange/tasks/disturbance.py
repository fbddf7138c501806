"""What a robot disturbs in a home on its way: doors that it pushes shut."""

from __future__ import annotations

from typing import Any

from rearrange.caching import cached_njit


@cached_njit
def pushed_shut(before: Any, now: Any) -> float:
    """How far doors and drawers have gone towards where they are closed, in all [rad, m]."""
    shut = 0.0
    for k in range(len(now)):
        shut += max(before[k] - now[k], 0.0)
    return shut
