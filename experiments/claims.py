"""Claims of a paper, and what our rows say of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from skills.figures import render

RATIO, DIFFERENCE, VALUE = "ratio", "difference", "value"
HOLDS, FAILS, OPEN, UNMEASURED = "holds", "does not hold", "cannot be told", "not measured"
FEWEST_SEEDS = 3  # of which an interval is told


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper, as a range in which a figure of ours has to lie.

    Attributes:
        text: The sentence.
        figure: Of the rows.
        arm: Whose.
        other: With which it is compared, seed by seed; "" for the figure itself.
        by: RATIO of the two, DIFFERENCE, or VALUE.
        least: Lower end of the range; None: there is none.
        most: Upper end, likewise.
        reference: The paper's figure, as a marker names it, in results/references.json; "": it gives none.
    """

    text: str
    figure: str
    arm: str
    other: str = ""
    by: str = RATIO
    least: float | None = None
    most: float | None = None
    reference: str = ""

    def __post_init__(self) -> None:
        """Refuse what says nothing: a ValueError."""
        if (self.least is None and self.most is None) or (self.by == VALUE) == bool(self.other):
            raise ValueError(f"'{self.text}' has no range, or compares nothing")

    @property
    def range(self) -> str:
        """The range in words."""
        if self.most is None:
            return f"above {self.least:g}"
        return f"below {self.most:g}" if self.least is None else f"{self.least:g} to {self.most:g}"

    def judge(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Judge by the rows of all arms and seeds: text, range, figures and verdict, as JSON has them.

        It holds where the whole 95 % interval over the seeds lies in the range, and does not hold where
        it lies outside.
        """
        ours = self._ours(rows)
        told = {"text": self.text, "reference": self.reference, "by": self.by, "range": self.range}
        return told | {"ours": ours, "verdict": self._verdict(ours)}

    def _ours(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
        """Mean over the seeds, their number, and if there are enough an interval; None without rows."""
        arm, other = (
            {row["seed"]: row.get(self.figure) for row in rows if row["arm"] == name}
            for name in (self.arm, self.other)
        )
        if not arm or (self.other and not other):
            return None
        seeds = sorted(arm.keys() & other.keys()) if self.other else sorted(arm)
        values = [self._compare(arm[seed], other.get(seed)) for seed in seeds]
        known = [value for value in values if value is not None]
        told: dict[str, Any] = {"seeds": len(values), "known": len(known)}
        if not known or len(known) < len(values):  # a run that never got there is no outlier
            return told
        mean = float(np.mean(known))
        told["mean"] = self._back(mean)
        if len(known) >= FEWEST_SEEDS:
            half = stdtrit(len(known) - 1, 0.975) * np.std(known, ddof=1) / math.sqrt(len(known))
            told |= {"low": self._back(mean - half), "high": self._back(mean + half)}
        return told

    def _compare(self, one: float | None, other: float | None) -> float | None:
        """Compare what is averaged over the seeds: of ratios their logarithm."""
        if one is None or (self.other and other is None):
            return None
        if self.by == VALUE or other is None:
            return one
        if self.by == DIFFERENCE:
            return one - other
        return math.log(one / other) if one > 0 and other > 0 else None

    def _back(self, value: float) -> float:
        return float(math.exp(value) if self.by == RATIO else value)

    def _verdict(self, ours: Mapping[str, Any] | None) -> str:
        if ours is None:
            return UNMEASURED
        if "low" not in ours:
            return OPEN
        least = -math.inf if self.least is None else self.least
        most = math.inf if self.most is None else self.most
        if least < ours["low"] and ours["high"] < most:
            return HOLDS
        return FAILS if ours["high"] <= least or most <= ours["low"] else OPEN


def told_reference(references: Mapping[str, Any], reference: str) -> str:
    """The paper's figure as a marker would tell it, or "no figure".

    Raises:
        UserError: There is no such reference.
    """
    return render(references, reference) if reference else "no figure"
