"""Verdicts on an execution from the true state, for the record only.

No decision may use it: what a judge finds leaves it in `execution()`, and as `missed` for who looks on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.interactions import (
    InteractionResult,
    InteractionTracker,
    SkillCall,
    achieved,
    held_slot,
)
from planner.record import Decision, Ending, Execution, HandOff, missed_steps
from rearrange.env import RearrangeEnv
from rearrange.sim.base import NOTHING
from skills.registry import effect_of

WRONG_OBJECT = "wrong object"
MOVED, REOPENED = "moved a placed object", "reopened"
EXHAUSTED = "plan exhausted"


def force_exceeded(info: Mapping[str, Any]) -> bool:
    """Return whether a step exceeded a force limit, which ends an episode by HAB's rule."""
    return info.get("metrics", {}).get("failure/force_limit", 0.0) > 0.0


class Judge:
    """Follows one execution."""

    def __init__(
        self,
        world: RearrangeEnv,
        calls: Sequence[SkillCall],
        any_order: bool,
        arrived: float = 0.0,
    ) -> None:
        """Begin with nothing done.

        Args:
            world: The environment.
            calls: The first plan.
            any_order: See InteractionTracker; and the failure told is what is left undone.
            arrived: Where a drive may end, base to what it was told [m].
        """
        self._world, self._arrived, self._any_order = world, arrived, any_order
        self._tracker = InteractionTracker(calls, any_order=any_order)
        self._hand_offs: list[HandOff] = []
        self._held_before = NOTHING
        self._disturbed: list[SkillCall] = []  # of which the record tells already

    @property
    def missed(self) -> frozenset[int]:
        """Steps of the plan after which something was not as the plan assumes."""
        return missed_steps(self._hand_offs)

    @property
    def reached(self) -> int:
        """See InteractionTracker."""
        return self._tracker.reached

    def watch(self) -> None:
        """Look at the world after a step."""
        self._tracker.update(self._world.state)

    def begin_skill(self) -> None:
        """A skill begins."""
        self._held_before = held_slot(self._world.state)

    def end_skill(
        self,
        index: int,
        name: str,
        call: SkillCall,
        ending: Ending,
        steps: int,
        bearing: tuple[float, float],
        excused: bool,
        goes_on: bool,
    ) -> None:
        """Keep a hand-off.

        Args:
            index: Step of the plan.
            name: Skill that has ended.
            call: What the step is for.
            ending: Why.
            steps: After so many.
            bearing: Distance [m] and heading [rad] to what it was told, by odometry.
            excused: A time-out of this skill is nothing that went wrong.
            goes_on: The episode does not end with it.
        """
        # An ending that changes nothing stands in the record, but is nothing that went wrong.
        harmless = goes_on and (excused or self._has_effect(call, bearing[0]))
        deviation, targets = self._deviation(name, call, "done" if harmless else ending)
        self.keep(index, name, call.label, ending, steps, bearing, deviation, targets)

    def keep(
        self,
        index: int,
        name: str,
        label: str,
        ending: Ending,
        steps: int,
        bearing: tuple[float, float],
        deviation: str | None,
        targets: tuple[int, ...] = (),
    ) -> None:
        """Keep a hand-off whose deviation is known; arguments as of `HandOff`."""
        x, y, yaw = (float(v) for v in self._world.state.base_pose[0])
        held = held_slot(self._world.state)
        hand_off = HandOff(
            plan_index=index,
            skill=name,
            label=label,
            ending=ending,
            steps=steps,
            base_pose=(x, y, yaw),
            distance=bearing[0],
            heading=bearing[1],
            held=None if held == NOTHING else held,
            deviation=deviation,
            targets=targets,
        )
        self._hand_offs.append(hand_off)

    def succeeds(self) -> bool:
        """HAB's success, in the state as it is now."""
        return self._tracker.success_at_end(self._world.state)

    def execution(
        self,
        steps: int,
        stopped: bool,
        decisions: Sequence[Decision] = (),
        failure: str | None = None,
    ) -> Execution:
        """Close the record.

        Args:
            steps: So many in all.
            stopped: The episode was ended before the plan was.
            decisions: Of replanning.
            failure: What to call a failure; None: what the hand-offs tell.
        """
        success = not stopped and self.succeeds()
        return Execution(
            success_at_end=success,
            success_once=self._tracker.success_once,
            interactions=self._results(),
            failure=None if success else failure or self._failure(stopped),
            steps=steps,
            hand_offs=tuple(self._hand_offs),
            decisions=tuple(decisions),
        )

    def _results(self) -> tuple[InteractionResult, ...]:
        return tuple(self._tracker.results(self._world.state))

    def _has_effect(self, call: SkillCall, distance: float) -> bool:
        """Return whether a call had its effect; a drive must end near enough to its target."""
        if call.effect == "arrives":
            return distance <= self._arrived
        return call.effect != "" and achieved(call, self._world.state)

    def _deviation(
        self, name: str, call: SkillCall, ending: Ending
    ) -> tuple[str | None, tuple[int, ...]]:
        """Return the most telling deviation from the plan, and the targets that it concerns."""
        disturbed = self._disturbances()
        others = [other.argument.target_index for other in disturbed]
        cause = self._cause(name, call, ending, disturbed)
        own = [] if cause in (None, MOVED, REOPENED) else [call.argument.target_index]
        return cause, tuple(dict.fromkeys((*own, *others)))

    def _cause(
        self, name: str, call: SkillCall, ending: Ending, disturbed: Sequence[SkillCall]
    ) -> str | None:
        """Name the most telling deviation from the plan."""
        state = self._world.state
        held, effect = held_slot(state), effect_of(name)
        if ending in ("force limit", "step limit"):
            return ending
        if effect == "holds" and held not in (call.argument.slot, NOTHING):
            return WRONG_OBJECT
        if effect not in ("holds", "places") and self._held_before not in (held, NOTHING):
            return "dropped"
        if disturbed:
            return REOPENED if disturbed[0].closes else MOVED
        if effect == "places" and held == NOTHING and not achieved(call, state):
            return "missed the goal"
        if ending == "time-out":
            return ending
        if state.held_handle[0] != NOTHING:
            return "holds a handle"
        if effect == "holds" and held == NOTHING:
            return "nothing held"
        if name == call.skill and call.interacts and not achieved(call, state):
            return "no effect"
        return None

    def _disturbances(self) -> list[SkillCall]:
        """List effects undone since; each is reported once until it is restored."""
        state = self._world.state
        now = self._tracker.disturbed(state)
        told = [call for call in self._disturbed if not achieved(call, state)]
        self._disturbed = [*told, *(call for call in now if call not in told)]
        return [call for call in now if call not in told]

    def _failure(self, stopped: bool) -> str:
        faults = [h for h in self._hand_offs if h.deviation is not None]
        if self._any_order:  # what came first may have been mended
            left = self._tracker.unfinished(self._world.state)
            last = self._hand_offs[-1] if stopped else None
            telling = [f for f in faults if f is last or left.intersection(f.targets)]
            faults = (telling or faults)[::-1]
        return f"{faults[0].skill}: {faults[0].deviation}" if faults else EXHAUSTED
