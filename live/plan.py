"""A plan and what the robot believes meanwhile, in HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable

from planner.beliefs import ELSEWHERE, Beliefs
from planner.problem import is_opened
from planner.record import Execution, Moment
from rearrange.env import RearrangeEnv
from rearrange.episodes import spec_of
from rearrange.sim.base import NOTHING
from skills.knowledge import HANDLE

LINE = "font-size:12px;line-height:15px"
SHOWN_DONE = 3  # steps of the plan: more would push the present one out of sight
BY_PLAN = "as the plan assumes: nobody looks without --replan"


def ending_of(execution: Execution) -> str:
    """The end of a chore in a few words."""
    told = "success" if execution.success_at_end else f"failed: {execution.failure}"
    return f"{told}, {execution.steps} steps"


def plan_of(moment: Moment) -> str:
    """The plan in HTML: the last that was done, now, still to be done."""
    lines = [html.escape(f"{moment.skill.replace('_', ' ')}, step {moment.skill_step}")]
    first = max(0, moment.plan_index - SHOWN_DONE)
    if first:
        lines.append(f"✓ {first} before")
    for index, call in enumerate(moment.calls[first:], first):
        mark = "✓" if index < moment.plan_index else "▶" if index == moment.plan_index else "·"
        if index in moment.missed:
            mark = "✗"
        words = str(call.step).strip("()").split()
        text = html.escape(f"{mark} {' '.join(words[:1] + words[2:])}")  # without the robot
        lines.append(f"<b>{text}</b>" if index == moment.plan_index else text)
    return lines_of(lines)


def beliefs_of(world: RearrangeEnv, moment: Moment) -> str:
    """Beliefs in HTML: places of objects, and what is open."""
    scene, beliefs = spec_of(world.episode), moment.beliefs
    lines = []
    for index, target in enumerate(world.episode.targets):
        name = f"object_{index}, {scene.objects[target.slot].title}"
        where = (
            _assumed(world, moment, index) if beliefs is None else _believed(world, beliefs, index)
        )
        lines.append(html.escape(f"{name}: {where}"))
    if beliefs is None:
        return lines_of([*lines, f"<i>{BY_PLAN}</i>"])
    for receptacle, value in beliefs.openings.items():
        part = scene.part_of(receptacle)
        assert part is not None
        state = "open" if is_opened(scene, receptacle, {part.name: value}) else "not open"
        lines.append(html.escape(f"{scene.title(receptacle)}: {state}"))
    in_hand = beliefs.held
    if in_hand == HANDLE:
        lines.append("in the hand: a handle")
    elif in_hand != NOTHING and beliefs.target_of(in_hand) is None:
        lines.append(html.escape(f"in the hand: {scene.objects[in_hand].title}, not asked for"))
    return lines_of(lines)


def _believed(world: RearrangeEnv, beliefs: Beliefs, index: int) -> str:
    """Place of a target's object, to the robot's knowledge."""
    where = beliefs.objects[index]
    if beliefs.held == world.episode.targets[index].slot:
        return "in the hand"
    if where.position is None:
        return "lost"
    place = where.receptacle
    if where.at_goal:
        place = "at its goal"
    elif place != ELSEWHERE:
        place = f"on {spec_of(world.episode).title(place)}"
    return f"{place}, {'seen' if index in beliefs.seen else 'not seen yet'}"


def _assumed(world: RearrangeEnv, moment: Moment, index: int) -> str:
    """Place of a target's object if all steps of the plan so far had their effects."""
    target = world.episode.targets[index]
    place = f"on {spec_of(world.episode).title(target.start_receptacle)}"
    if world.episode.held_slot == target.slot:
        place = "in the hand"
    for call in moment.calls[: moment.plan_index]:
        if call.argument.target_index == index:
            place = {"holds": "in the hand", "places": "at its goal"}.get(call.effect, place)
    return place


def lines_of(lines: Iterable[str]) -> str:
    """Lines in HTML."""
    return "".join(f'<div style="{LINE}">{line}</div>' for line in lines)
