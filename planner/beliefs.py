"""Beliefs of the robot while a plan is followed, and the planning problem that is left.

A belief holds until something that the robot observes contradicts it: an object stays at its start until
it is taken (or where its drawer has carried it, as far as the robot knows), at its goal until the camera
shows that it is not there. What counts as observed is said in `skills.knowledge`.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from planner.interactions import CLOSED_BELOW, OBJECT_AT_DISTANCE, SkillCall
from planner.problem import (
    ROBOT,
    START,
    TaskProblem,
    goal_name,
    is_opened,
    kind_of,
    object_name,
    problem_text,
    read_problem,
    receptacles_of,
    skill_arguments,
)
from planner.search import Atom
from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode, spec_of
from rearrange.sim.base import NOTHING
from skills import SkillArgument
from skills.knowledge import HANDLE, Knowledge, Position

ELSEWHERE = "elsewhere"  # a receptacle of the problem: any place that needs no opening
OTHER = "other_object"  # what is in the hand although the task does not ask for it
BACK = "back"  # where what is in the hand was taken
MOVED = 0.15  # [m] from where it stood: the skills have to be told
BESIDE = 0.5  # [m], in the plane: still in the same receptacle
# [m]: an object so much nearer than another, and so little aside of the way to it, stands before it
NEARER, ASIDE = 0.05, 0.2


@dataclass(frozen=True)
class Whereabouts:
    """Believed place of a target's object while it is not in the hand.

    Attributes:
        position: Centre, world frame [3], m; None: lost.
        receptacle: On or in what.
        at_goal: Whether that is its goal.
    """

    position: Position | None
    receptacle: str
    at_goal: bool = False


class Beliefs:
    """Follows one episode.

    Attributes:
        held: Slot in the hand, HANDLE or NOTHING, as far as the senses tell.
        objects: Target index -> where its object is, or was last if it is in the hand.
        openings: Fridge or drawer -> how far it is open [rad] or [m].
        seen: Targets whose object the camera has shown where it is believed to be.
    """

    def __init__(
        self,
        episode: Episode,
        knowledge: Knowledge,
        close: bool = False,
        named: Collection[str] = (),
    ) -> None:
        """Begin with what the episode says.

        Args:
            episode: What is asked.
            knowledge: Where facts come from.
            close: As in `problem.build_problem`.
            named: As there.
        """
        self._episode, self._knowledge, self._close = episode, knowledge, close
        self._named = named
        self._senses = knowledge.senses
        self.held = NOTHING if episode.held_slot is None else episode.held_slot
        self.objects = {
            index: Whereabouts(target.start, target.start_receptacle)
            for index, target in enumerate(episode.targets)
        }
        self._scene = scene = spec_of(episode)
        needed = [(receptacle, scene.part_of(receptacle)) for receptacle in receptacles_of(episode)]
        self._joints = {receptacle: part.name for receptacle, part in needed if part is not None}
        self.openings = {
            receptacle: episode.articulated.get(joint, 0.0)
            for receptacle, joint in self._joints.items()
        }
        self.seen: set[int] = set()
        self._had_object = self.held != NOTHING  # in the hand, at the last step
        self._taken_from: Position | None = None
        self._taken_for = 0  # target of the call that brought what is in the hand
        self._lost_at: Position | None = None

    def watch(self, world: RearrangeEnv) -> None:
        """Looks at the hand after a step: where something was taken, where it was lost."""
        at_cup = self._senses.at_cup(world)
        if (at_cup is not None) == self._had_object:
            return
        self._had_object = at_cup is not None
        if at_cup is None:
            self._lost_at = self._knowledge.body.hand
        else:
            self._taken_from = at_cup

    def look(self, world: RearrangeEnv, call: SkillCall) -> list[int]:
        """Brings the beliefs up to date at a hand-off.

        Args:
            world: The environment.
            call: What was just done.

        Returns:
            Targets that are no longer at their goals, contrary to what was believed.
        """
        before = self.held
        expected = call.argument.slot if call.effect == "holds" else before
        likely = [slot for slot in (expected, *self._were_where_it_was_taken()) if slot >= 0]
        self.held = self._senses.in_hand(world, likely)
        if self.held not in (before, NOTHING, HANDLE):
            self._taken_for = call.argument.target_index
        for receptacle in self.openings:
            value = self._senses.opening(world, self._joints[receptacle])
            self.openings[receptacle] = self.openings[receptacle] if value is None else value
        moved = []
        for index, target in enumerate(self._episode.targets):
            if self.held == target.slot:
                self.seen.discard(index)
                continue
            if before == target.slot:
                self.objects[index] = self._released(world, index, call)
            elif self.objects[index].at_goal:
                self.objects[index] = self._looked_for(world, index, self.objects[index])
                moved += [] if self.objects[index].at_goal else [index]
            elif call.effect == "holds" and call.argument.slot == target.slot:
                self.objects[index] = self._missed(world, index)
        return moved

    def _were_where_it_was_taken(self) -> list[int]:
        """Slots of the targets that were believed to be where the hand took something, the nearest first."""
        near = []
        for index, where in self.objects.items():
            if self._taken_from is not None and where.position is not None:
                distance = math.dist(self._taken_from, self._place(index, where))
                near += [(distance, index)] if distance < OBJECT_AT_DISTANCE else []
        return [self._episode.targets[index].slot for _, index in sorted(near)]

    def target_of(self, slot: int) -> int | None:
        """Index of the target whose object is in a slot, or None."""
        slots = [target.slot for target in self._episode.targets]
        return slots.index(slot) if slot in slots else None

    def is_as_meant(self, call: SkillCall) -> bool:
        """Return whether a fridge or drawer is as this call was meant to leave it."""
        assert call.receptacle is not None
        if call.closes:
            return abs(self.openings[call.receptacle]) < CLOSED_BELOW
        return self._is_opened(call.receptacle)

    def left(self, given_up: Collection[int]) -> list[int]:
        """Targets that are not at their goals and not given up."""
        return [i for i, where in self.objects.items() if i not in given_up and not where.at_goal]

    def before(self, index: int, given_up: Collection[int]) -> int | None:
        """Find what stands before an object in the same receptacle, as seen from the base; the nearest.

        Pulled out past it, the farther object and the arm would sweep it down.

        Args:
            index: Target of that object.
            given_up: Targets that shall stay where they are.

        Returns:
            A target that is still to be done, or None.
        """
        base, there = self._knowledge.body.base_pose, self.objects[index]
        way = _planar(self._place(index, there), base)
        length, nearer = abs(way), []
        for other in self.left(given_up):
            where = self.objects[other]
            if other == index or where.position is None or where.receptacle != there.receptacle:
                continue
            # Along the way to the object, and aside of it
            offset = (
                _planar(self._place(other, where), base) * way.conjugate() / max(length, NEARER)
            )
            if 0.0 < offset.real < length - NEARER and abs(offset.imag) < ASIDE:
                nearer.append((offset.real, other))
        return min(nearer)[1] if nearer else None

    def _is_opened(self, receptacle: str) -> bool:
        joints = {self._joints[receptacle]: self.openings[receptacle]}
        return is_opened(self._scene, receptacle, joints)

    def _released(self, world: RearrangeEnv, index: int, call: SkillCall) -> Whereabouts:
        """Locate an object that has left the hand."""
        target = self._episode.targets[index]
        meant = call.effect == "places"
        at = call.argument.position if meant else self._lost_at or target.start
        if meant:
            return self._looked_for(world, index, self._place_of(index, at))
        found = self._find(world, index, at)
        if found is not None:
            return self._place_of(index, found)
        # It has fallen where nobody looks: to the floor under the hand.
        on_floor = self._scene.objects[target.slot].half_height
        return Whereabouts((at[0], at[1], on_floor), ELSEWHERE)

    def _missed(self, world: RearrangeEnv, index: int) -> Whereabouts:
        """Locate an object after a failed pick: it may have been pushed."""
        last = self.objects[index]
        now = self._looked_for(world, index, last)
        if now.position is None or last.position is None:
            return last
        return last if math.dist(now.position, self._place(index, last)) < MOVED else now

    def _looked_for(self, world: RearrangeEnv, index: int, last: Whereabouts) -> Whereabouts:
        """Locate an object that is believed to be at `last`.

        Only where that place is seen to be empty may the object be elsewhere: what is seen there could
        be another one of its kind.
        """
        place = self._place(index, last)
        found = self._find(world, index, place)
        if found is not None and math.dist(found, place) < OBJECT_AT_DISTANCE:
            return self._place_of(index, found)
        if not self._senses.shows(world, place):
            return last
        if found is None:
            self.seen.discard(index)
            return Whereabouts(None, ELSEWHERE)
        return self._place_of(index, found)

    def _find(self, world: RearrangeEnv, index: int, near: Position) -> Position | None:
        """Position of an object that the camera shows; None where it shows none."""
        found = self._senses.find(world, self._episode.targets[index].slot, near)
        if found is not None:
            self.seen.add(index)
        return found

    def _place(self, index: int, where: Whereabouts) -> Position:
        """The place of an object, or where it was last: also where its drawer has carried it."""
        target = self._episode.targets[index]
        if where.at_goal:
            return target.goal
        if where.position is None or where.position == target.start:
            return self._knowledge.told(index, target.start)
        return where.position

    def _place_of(self, index: int, position: Position) -> Whereabouts:
        target = self._episode.targets[index]
        if math.dist(position, target.goal) < OBJECT_AT_DISTANCE:
            return Whereabouts(position, target.goal_receptacle, at_goal=True)
        for place, receptacle in (
            (target.goal, target.goal_receptacle),
            (self._knowledge.told(index, target.start), target.start_receptacle),
        ):
            near = math.dist(position[:2], place[:2]) < BESIDE
            if near and abs(position[2] - place[2]) < MOVED:
                return Whereabouts(position, receptacle)
        return Whereabouts(position, ELSEWHERE)

    # ------------------------------------------------------------ the problem that is left

    def remaining(
        self, given_up: Collection[int], put_back: bool = False, first: int | None = None
    ) -> TaskProblem:
        """The problem "bring what is left to its goals" from where things are believed to be.

        Args:
            given_up: Targets that shall stay where they are.
            put_back: What is in the hand goes back to where it was taken, and nothing else is asked.
            first: The target that plans begin with; None: they keep the order of the targets.
        """
        every = sorted(range(len(self._episode.targets)), key=lambda index: index != first)
        doable = set() if put_back else set(self.left(given_up))
        left = [index for index in every if index in doable]
        names: dict[str, list[str]] = {"robot": [ROBOT], "pose": [START], "movable": [], "goal": []}
        arguments = skill_arguments(self._episode)
        facts: list[Atom] = [
            ("robot-at", ROBOT, START)
        ]  # driven to anew: another stance may do better
        wanted: list[Atom] = [("hand-empty", ROBOT)]
        for index in left:
            facts += self._facts_of(index)
            wanted.append(("object-at", object_name(index), goal_name(index)))
            where = self.objects[index].position
            if where is not None:
                name = object_name(index)
                arguments[name] = replace(arguments[name], position=where)
        names["movable"] += [object_name(index) for index in left]
        names["goal"] += [goal_name(index) for index in every]
        if self.held in (NOTHING, HANDLE):
            facts.append(("hand-empty", ROBOT))  # a handle is let go first
        elif self.target_of(self.held) not in left:
            facts += [("holding", ROBOT, OTHER), ("in", BACK, ELSEWHERE)]
            wanted.append(("object-at", OTHER, BACK))
            names["movable"].append(OTHER)
            names["goal"].append(BACK)
            arguments[BACK] = self._back()
        self._add_receptacles(names, facts, arguments, left)
        if self._close and not put_back:
            wanted += [("closed", receptacle) for receptacle in self.openings]
        text = problem_text(f"episode-{self._episode.episode_id}", names, facts, wanted)
        return TaskProblem(text, read_problem(text, self._named), arguments)

    def _facts_of(self, index: int) -> list[Atom]:
        target, name = self._episode.targets[index], object_name(index)
        facts: list[Atom] = [("misplaced", name), ("in", goal_name(index), target.goal_receptacle)]
        if self.held == target.slot:
            return [*facts, ("holding", ROBOT, name)]
        return [*facts, ("in", name, self.objects[index].receptacle)]

    def _add_receptacles(
        self,
        names: dict[str, list[str]],
        facts: list[Atom],
        arguments: dict[str, SkillArgument],
        left: list[int],
    ) -> None:
        """Receptacles, whether they are open, and the points that mark them: starts and goals."""
        names["static-receptacle"] = [ELSEWHERE]
        for receptacle in receptacles_of(self._episode):
            names.setdefault(kind_of(self._scene, receptacle), []).append(receptacle)
        facts += [("opened", name) for name in names["static-receptacle"]]
        needed = {self.objects[i].receptacle for i in left}
        needed |= {self._episode.targets[i].goal_receptacle for i in left}
        for receptacle, opening in self.openings.items():
            # Half open is closed for who has to reach in, and opened for who has to close it.
            half = receptacle not in needed and abs(opening) >= CLOSED_BELOW
            opened = half or self._is_opened(receptacle)
            facts.append(("opened" if opened else "closed", receptacle))
        for index, target in enumerate(self._episode.targets):
            if self._scene.part_of(target.start_receptacle):
                start = f"start_{index}"  # the object itself may be elsewhere by now
                names["goal"].append(start)
                arguments[start] = SkillArgument("object", target.slot, index, target.start)
                facts.append(("marks", start, target.start_receptacle))
            if self._scene.part_of(target.goal_receptacle):
                facts.append(("marks", goal_name(index), target.goal_receptacle))

    def _back(self) -> SkillArgument:
        """Return the goal that puts a held object back where it was taken."""
        own = self.target_of(self.held)
        index = self._taken_for if own is None else own
        position = self._taken_from or self._episode.targets[index].start
        return SkillArgument("goal", self.held, index, position)


def _planar(position: Position, base: Position) -> complex:
    """A place as seen from the base, in the plane: x + iy [m]."""
    return complex(position[0] - base[0], position[1] - base[1])
