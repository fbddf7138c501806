import numpy as np
import pytest

from rearrange.navigation.layouts import load_layout
from rearrange.scenes.fridge import FRIDGE_DOOR
from rearrange.tasks import PickConfig, PlaceConfig, make_task
from rearrange.tasks.sampling import cluttered_scene
from rearrange.tasks.starts import open_doors
from rearrange.tasks.targets import leave_open, random_goal

pytestmark = pytest.mark.usefixtures("one_variation")


def test_something_is_left_open_as_far_as_a_chore_may_leave_it():
    rng, seen = np.random.default_rng(0), set()
    for _ in range(12):
        scene = cluttered_scene("val", rng)
        leave_open(scene, rng)
        ((name, value),) = scene.joints.items()
        part = scene.spec.part(name)
        assert part.laid_open <= value <= part.range[1]
        seen.add(name)
    assert seen == {FRIDGE_DOOR.name, "drawer_right_top"}


@pytest.mark.parametrize(
    ("name", "config"),
    [("pick", PickConfig(open_share=1.0)), ("place", PlaceConfig(fridge_share=1.0))],
)
def test_nobody_begins_in_the_door_of_what_is_open(name, config):
    """Of fridge starts of Pick 14 in 78 did: the robot stood half under the door, and could not get out."""
    task, rng, doors = make_task(name, config, 1), np.random.default_rng(0), 0
    for _ in range(40):
        episode = task.sample_episode("val", rng)
        apartment, grid = load_layout(episode.layout, episode.variation)
        footprints = open_doors(apartment, episode.articulated)
        doors += len(footprints)
        assert grid.with_obstacles(footprints).is_free(*episode.base_pose[:2])
    assert doors >= 12


def test_there_may_be_no_goal():
    scene = cluttered_scene("val", np.random.default_rng(3))
    scene.objects.clear()
    assert random_goal(scene, 0.0, np.random.default_rng(0)) is None
