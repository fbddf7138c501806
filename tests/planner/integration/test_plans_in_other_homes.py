"""Plans in a kind of home that the planner does not know: tests/helpers/bedsit.py."""

import numpy as np
import pytest

from planner.interactions import achieved, bind
from planner.problem import build_problem, drawers_of
from planner.search import find_plan
from rearrange.episodes import Target
from rearrange.robot.fetch import FETCH
from rearrange.scenes import register_homes
from rearrange.scenes.registry import unregister_homes
from rearrange.sim.base import SimState
from rearrange.tasks.sampling import empty_scene
from tests.helpers.bedsit import BEDSIT, DOOR, DRAWER


@pytest.fixture
def episode():
    """A mug in the closed drawer goes onto the desk, a can from the desk into the closed cupboard."""
    register_homes(BEDSIT)
    rng = np.random.default_rng(0)
    scene, targets = empty_scene("bedsit/val", rng), []
    for slot, start, goal in ((4, DRAWER.receptacle, "desk"), (0, "desk", DOOR.receptacle)):
        assert scene.add_object(slot, start, rng)
        place = scene.find_place(slot, goal, 0.05, rng, attempts=50)
        assert place is not None
        targets.append(Target(slot, scene.position(slot), place, start, goal))
    pose = scene.grid.sample_pose(rng)
    yield scene.episode(tuple(targets), pose, (0.0,) * 7, rng, "val/0")
    unregister_homes(BEDSIT)


def test_what_shuts_things_in_is_opened_first(episode):
    task = build_problem(episode)
    calls = [bind(step, task.arguments, BEDSIT) for step in find_plan(task.problem).steps]
    openings = {call.skill: call.argument.joint for call in calls if call.effect == "opens"}
    assert openings == {"open_cab": DRAWER.name, "open_fridge": DOOR.name}
    assert drawers_of(episode) == {0: DRAWER.name}
    state = SimState(1, FETCH, BEDSIT)
    for call in (call for call in calls if call.effect == "opens"):
        part = BEDSIT.part(call.argument.joint)
        for value, opened in (
            (part.opened_beyond - 0.01, False),
            (part.opened_beyond + 0.01, True),
        ):
            state.articulated_joints[0, BEDSIT.index(part.name)] = value
            assert achieved(call, state) == opened


def test_its_things_have_names_for_people():
    assert [BEDSIT.title(name) for name in ("desk", "in_cupboard", "dresser_drawer")] == [
        "desk", "cupboard", "dresser's drawer",
    ]  # fmt: skip
    assert [kind.title for kind in BEDSIT.objects[3:5]] == ["tomato soup can", "mug"]
