"""Lets one policy do a whole household task alone: MonolithicRL of the HAB and VER papers.

There are no skills, and no plan is followed; what a plan would have done only says which interactions are
counted. Each counts whenever it was done, once all before it are, as with replanning.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.interactions import SkillCall
from planner.judge import Judge, force_exceeded
from planner.record import EVERYTHING, Ending, Execution, Moment, Observer
from rearrange.env import RearrangeEnv
from skills import Skill
from skills.modes import MONOLITHIC

STOPPED_EARLY = "stopped early"


def run_alone(
    world: RearrangeEnv,
    policy: Skill,
    calls: Sequence[SkillCall],
    max_steps: int,
    observers: Sequence[Observer] = (),
) -> Execution:
    """Plays an episode until the policy calls stop, a force limit or the time-out.

    Args:
        world: The environment, just reset to the episode.
        policy: Done once it calls stop.
        calls: A plan for the episode.
        max_steps: Time-out.
        observers: Called after every step; for them the first interaction that is missing is being done.
    """
    calls = tuple(call for call in calls if call.interacts)
    judge = Judge(world, calls, any_order=True)
    policy.reset(world, calls[0].argument)
    ending: Ending | None = None
    steps = index = 0
    while ending is None:
        _, _, _, info = world.step_physical(policy.act(world))
        steps += 1
        judge.watch()
        index = min(judge.reached, len(calls) - 1)
        for observe in observers:
            observe(world, Moment(calls, index, MONOLITHIC, None, steps))
        if force_exceeded(info):
            ending = "force limit"
        elif policy.done(world):
            ending = "done"
        elif steps >= max_steps:
            ending = "time-out"
    # As in its own task: to have everything in its place is not enough, it has to say so.
    success = ending == "done" and judge.succeeds()
    deviation = None if success else STOPPED_EARLY if ending == "done" else ending
    judge.keep(index, MONOLITHIC, EVERYTHING, ending, steps, (0.0, 0.0), deviation)
    return judge.execution(steps, ending != "done", failure=f"{MONOLITHIC}: {deviation}")
