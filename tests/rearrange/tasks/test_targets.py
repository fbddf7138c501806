import math

import numpy as np
import pytest

from rearrange.navigation.layouts import load_layout
from rearrange.scenes.fridge import FRIDGE_DOOR
from rearrange.tasks import NavigateConfig, PickConfig, PlaceConfig, make_task
from rearrange.tasks.sampling import cluttered_scene
from rearrange.tasks.starts import open_doors
from rearrange.tasks.targets import goal_beside, leave_open, random_goal

pytestmark = pytest.mark.usefixtures("one_variation")


def away(target, held, place):
    return math.dist((target.goal if held else target.start)[:2], place)


def test_what_is_left_open_is_told_by_where_its_handle_is():
    rng, seen = np.random.default_rng(0), set()
    for _ in range(12):
        scene = cluttered_scene("val", rng)
        told = leave_open(scene, rng)
        ((name, value),) = scene.joints.items()
        part = scene.spec.part(name)
        assert part.laid_open <= value <= part.range[1]
        frame = scene.spec.frame_of(scene.apartment, name)
        c, s = math.cos(frame.yaw), math.sin(frame.yaw)
        away = np.subtract(told, frame.position[:2]) @ np.array([[c, -s], [s, c]])
        assert away == pytest.approx(part.handle_at(value))
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


@pytest.mark.parametrize("held", [False, True])
def test_of_many_goals_the_one_beside_a_place_is_taken(held):
    scene, same = (cluttered_scene("val", np.random.default_rng(3)) for _ in range(2))
    place, rng = (1.0, -2.0), np.random.default_rng(5)
    target = goal_beside(same, place, held, np.random.default_rng(5), candidates=9)
    drawn = [random_goal(scene, 0.0, rng) for _ in range(9)]
    distances = [away(each, held, place) for each in drawn if each is not None]
    assert len(set(distances)) > 3
    assert target is not None
    assert away(target, held, place) == min(distances)


def test_there_may_be_no_goal():
    scene = cluttered_scene("val", np.random.default_rng(3))
    scene.objects.clear()
    assert goal_beside(scene, (0.0, 0.0), False, np.random.default_rng(0)) is None


@pytest.mark.parametrize("holding", [0.0, 1.0])
def test_goals_beside_what_is_open_can_be_asked_for(holding):
    means = {}
    for share in (0.0, 1.0):
        rng = np.random.default_rng(1)
        config = NavigateConfig(
            closed_share=0.0, open_share=1.0, holding_share=holding, beside_share=share
        )
        task, distances = make_task("navigate", config, 1), []
        for _ in range(15):
            episode = task.sample_episode("val", rng)
            (target,) = episode.targets
            assert episode.held_slot == (target.slot if holding else None)
            (name,) = [name for name, value in episode.articulated.items() if value]
            part = task.scene.part(name)
            home, _ = load_layout(episode.layout, episode.variation)
            frame = task.scene.frame_of(home, name)
            handle = frame.to_world(part.handle_at(episode.articulated[name]))
            distances.append(away(target, bool(holding), handle))
        means[share] = np.mean(distances)
    assert means[1.0] < 0.5 * means[0.0]
