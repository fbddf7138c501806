import dataclasses
import itertools
import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.compile import REST_DEPTH
from rearrange.scenes.objects import OBJECT_KINDS
from rearrange.scenes.registry import CLASSIC, GENERATED, LAYOUTS_OF_SPLIT, layouts_of
from rearrange.tasks import Pick, TidyHouse, sampling
from rearrange.tasks.sampling import cluttered_scene, empty_scene, no_room, sample_arm, source_of

pytestmark = pytest.mark.usefixtures("one_variation")


def kind_of(slot):
    return OBJECT_KINDS[APARTMENT.slot_kinds[slot]]


@pytest.fixture
def scenes():
    rng = np.random.default_rng(0)
    return [cluttered_scene("val", rng) for _ in range(20)]


@pytest.mark.parametrize("task", [Pick, TidyHouse])
def test_a_seed_gives_the_same_episodes_again(task):
    first, second, other = (np.random.default_rng(seed) for seed in (5, 5, 6))
    for _ in range(3):
        episode = task().sample_episode("val", first)
        assert dataclasses.asdict(episode) == dataclasses.asdict(
            task().sample_episode("val", second)
        )
        assert episode != task().sample_episode("val", other)


@pytest.mark.parametrize("split", LAYOUTS_OF_SPLIT)
def test_scenes_come_from_the_layouts_of_their_split(split):
    rng = np.random.default_rng(0)
    layouts = {empty_scene(source_of(split, CLASSIC), rng).apartment.layout for _ in range(60)}
    assert layouts == set(layouts_of(split, CLASSIC))
    layouts = [empty_scene(source_of(split, GENERATED), rng).apartment.layout for _ in range(10)]
    assert set(layouts) <= set(layouts_of(split, GENERATED))
    assert len(set(layouts)) > 5


def test_what_is_wider_than_a_surface_finds_no_place_there(scenes):
    scene = scenes[0]
    scene.places.clear()
    name, rng = scene.spec.open_receptacles[0], np.random.default_rng(0)
    surface, radius = scene.apartment.receptacles[name], kind_of(0).footprint_radius
    receptacles = scene.apartment.receptacles
    for width, found in ((radius + 1e-6, True), (radius - 1e-6, False)):
        receptacles[name] = dataclasses.replace(surface, half_extents=(0.5, width))
        try:
            assert (scene.find_place(0, name, 0.02, rng) is not None) == found
        finally:
            receptacles[name] = surface


def test_all_variations_are_drawn(monkeypatch):
    monkeypatch.setattr(sampling, "VARIATION_COUNT", 3)
    rng = np.random.default_rng(0)
    assert {cluttered_scene("val", rng).apartment.variation for _ in range(15)} == {0, 1, 2}


def test_scenes_are_cluttered_and_differ(scenes):
    assert min(len(scene.objects) for scene in scenes) >= 15
    assert np.mean([len(scene.objects) for scene in scenes]) > 22
    used = {name for scene in scenes for name in scene.receptacle_of.values()}
    assert used == set(APARTMENT.open_receptacles)
    assert len({tuple(scene.objects.items()) for scene in scenes}) == len(scenes)


def test_objects_stand_upright_on_their_receptacles(scenes):
    for scene in scenes:
        for slot, (x, y, z, *quaternion) in scene.objects.items():
            surface = scene.apartment.receptacles[scene.receptacle_of[slot]]
            assert z == pytest.approx(surface.position[2] + kind_of(slot).half_height - REST_DEPTH)
            c, s = math.cos(surface.yaw), math.sin(surface.yaw)
            dx, dy = x - surface.position[0], y - surface.position[1]
            inside = np.array([abs(c * dx + s * dy), abs(c * dy - s * dx)])
            assert (inside <= np.array(surface.half_extents) + 1e-9).all()
            w, qx, qy, qz = quaternion
            assert (qx, qy) == (0.0, 0.0)
            assert math.hypot(w, qz) == pytest.approx(1.0)


def test_objects_do_not_overlap(scenes):
    for scene in scenes:
        for a, b in itertools.combinations(scene.objects, 2):
            first, second = scene.objects[a], scene.objects[b]
            gap = math.dist(first[:2], second[:2])
            gap -= kind_of(a).footprint_radius + kind_of(b).footprint_radius
            above = abs(first[2] - second[2]) - kind_of(a).half_height - kind_of(b).half_height
            assert gap > 0.0 or above > 0.0


def test_goals_are_apart_from_objects_and_from_each_other():
    rng = np.random.default_rng(1)
    for _ in range(10):
        episode = TidyHouse().sample_episode("val", rng)
        things = [(slot, pose[:3]) for slot, pose in episode.objects.items()]
        goals = [(target.slot, target.goal) for target in episode.targets]
        surfaces = load_layout(episode.layout, 0)[0].receptacles
        for k, (slot, goal) in enumerate(goals):
            surface = surfaces[episode.targets[k].goal_receptacle]
            assert goal[2] == pytest.approx(
                surface.position[2] + kind_of(slot).half_height - REST_DEPTH
            )
            for other, where in [*things, *goals[:k]]:
                radii = kind_of(slot).footprint_radius + kind_of(other).footprint_radius
                gap = math.dist(goal[:2], where[:2]) - radii
                above = abs(goal[2] - where[2])
                assert gap >= sampling.GOAL_GAP - 1e-9 or above > 0.2


def test_robots_start_where_they_fit():
    rng = np.random.default_rng(2)
    for task in (Pick(), TidyHouse()):
        for _ in range(5):
            episode = task.sample_episode("val", rng)
            grid = load_layout(episode.layout, 0)[1]
            assert grid.is_free(*episode.base_pose[:2])
            assert grid.on_island(*episode.base_pose[:2])


def test_unknown_split_lists_those_that_exist():
    with pytest.raises(UserError) as error:
        cluttered_scene("validation", np.random.default_rng(0))
    message = str(error.value)
    assert "\n" not in message
    assert all(word in message for word in ("'validation'", *LAYOUTS_OF_SPLIT))


def test_sampled_arms_are_near_rest_and_within_limits():
    rng = np.random.default_rng(0)
    arms = np.array([sample_arm(FETCH, rng, 0.1) for _ in range(500)])
    low, high = FETCH.limits
    assert (arms >= low).all()
    assert (arms <= high).all()
    free = np.array(FETCH.resting_arm) < high - 0.4
    np.testing.assert_allclose(arms.std(axis=0)[free], 0.1, rtol=0.15)
    assert sample_arm(FETCH, rng, 0.0) == pytest.approx(FETCH.resting_arm)
    wild = np.array([sample_arm(FETCH, rng, 5.0) for _ in range(50)])
    assert (wild >= low).all()
    assert (wild <= high).all()


def test_without_room_the_file_of_the_home_is_named():
    home = dataclasses.replace(APARTMENT, file="hut.yaml")
    told = "tidy_house: no room for the targets in 3 scenes: name fewer objects (objects:) or more "
    told += "receptacles in "
    for scene, where in ((home, "hut.yaml"), (APARTMENT, f"homes of kind {APARTMENT.name}")):
        assert str(no_room("tidy_house", "the targets", scene, 3)) == told + where
