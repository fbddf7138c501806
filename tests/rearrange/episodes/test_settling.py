import dataclasses
import math

import numpy as np
import pytest

from rearrange.episodes import Episode, Target, settling
from rearrange.episodes.generation import load_layout
from rearrange.episodes.settling import EpisodeFactory, can_stand_near
from rearrange.errors import UserError
from rearrange.sim.mujoco import MujocoSimulator, SimulatorConfig

pytestmark = pytest.mark.usefixtures("one_variation")


@pytest.fixture(scope="module")
def factory():
    return EpisodeFactory("pick", "val", 0)


@pytest.fixture
def sample(pick_episodes):
    """A sampled episode whose robot touches nothing."""
    return dataclasses.replace(pick_episodes[0], episode_id="val/0")


def with_object(episode, slot, pose):
    return dataclasses.replace(episode, objects={**episode.objects, slot: tuple(pose)})


def leaning(pose, angle):
    """The pose tilted about the world's x axis."""
    c, s = math.cos(angle / 2), math.sin(angle / 2)
    w, _, _, z = pose[3:]
    return (*pose[:2], pose[2] + 0.03, c * w, s * w, -s * z, c * z)


def other_slot(episode):
    """An object that is no target and stands on a high surface, a can if possible."""
    target = episode.targets[0].slot
    return next(slot for slot, pose in episode.objects.items() if slot != target and pose[2] > 0.7)


def test_a_good_sample_is_kept(factory, sample):
    found = factory._settle(sample)
    assert isinstance(found, Episode)
    for slot, pose in sample.objects.items():
        assert math.dist(found.objects[slot][:3], pose[:3]) < 0.01
    target = found.targets[0]
    assert target.start == target.goal == found.objects[target.slot][:3]


def test_settled_objects_stay_where_they_are(factory):
    episode, _ = factory.make(0)
    simulator = MujocoSimulator(1, SimulatorConfig(camera_size=8))
    simulator.reset([0], [episode])
    world, data = simulator.worlds[0], simulator.data[0]
    assert world is not None
    assert data is not None
    settling.run_to_rest(world, data, None)
    for slot, pose in episode.objects.items():
        np.testing.assert_allclose(data.xpos[world.first_object_body + slot], pose[:3], atol=1e-3)


def test_what_falls_is_rejected(factory, sample):
    slot = other_slot(sample)
    x, y, z, *rest = sample.objects[slot]
    assert factory._settle(with_object(sample, slot, (x, y, z + 0.2, *rest))) == "object moved"
    low = factory._settle(with_object(sample, slot, (x, y, z + 0.01, *rest)))
    assert isinstance(low, Episode)
    assert low.objects[slot][2] == pytest.approx(z, abs=0.002)  # it fell by 10 mm


def test_what_leans_is_rejected(sample, monkeypatch):
    factory = EpisodeFactory("pick", "val", 0)
    monkeypatch.setattr(settling, "LARGEST_MOTION", 10.0)
    slot = other_slot(sample)
    toppled = with_object(sample, slot, leaning(sample.objects[slot], 1.2))
    assert factory._settle(toppled) == "object tilted"


def test_robots_in_the_way_are_rejected(factory, sample):
    x, y, _ = sample.targets[0].start
    inside = dataclasses.replace(sample, base_pose=(x, y, 0.0))
    assert factory._settle(inside) in ("robot touches something", "robot off the connected floor")


def test_goals_that_nobody_can_reach_are_rejected(factory, sample):
    apartment, grid = load_layout(sample.layout, sample.variation)
    width, depth = apartment.bounds[2:]
    key = sample.layout, sample.variation
    points = [(x, y) for x in np.arange(0, width, 0.4) for y in np.arange(0, depth, 0.4)]
    near = [can_stand_near(*key, point) for point in points]
    assert 0 < sum(near) < len(points)
    for point, expected in zip(points[::5], near[::5], strict=True):
        ring = (
            (point[0] + r * math.cos(a), point[1] + r * math.sin(a))
            for r in np.arange(0.4, 1.0, 0.04)
            for a in np.arange(0.0, 6.3, 0.1)
        )
        assert any(grid.on_island(*place) for place in ring) or not expected
    x, y = points[near.index(False)]
    target = dataclasses.replace(sample.targets[0], goal=(x, y, 0.8))
    assert factory._settle(dataclasses.replace(sample, targets=(target,))) == "goal out of reach"


def test_handles_must_be_within_reach(factory, sample, monkeypatch):
    opening = dataclasses.replace(sample, targets=(), target_joint="fridge_door")
    assert isinstance(factory._settle(opening), Episode)
    monkeypatch.setattr(settling, "REACH", (20.0, 30.0))
    assert factory._settle(opening) == "handle out of reach"


def test_open_doors_and_drawers_are_kept(factory, sample):
    joints = {"fridge_door": 1.5, "drawer_right_top": 0.45}
    found = factory._settle(dataclasses.replace(sample, articulated=joints))
    assert isinstance(found, Episode)
    assert found.articulated == pytest.approx(joints, abs=0.02)


def test_held_objects_stay_in_the_hand(factory, sample):
    slot = sample.targets[0].slot
    goal = Target(slot, (0.0, 0.0, 0.0), sample.targets[0].goal, "sofa", "sofa")
    held = dataclasses.replace(sample, held_slot=slot, targets=(goal,))
    found = factory._settle(held)
    assert isinstance(found, Episode)
    assert found.objects[slot][:3] == pytest.approx(held.objects[slot][:3], abs=1e-4)
    assert found.targets[0].start == (0.0, 0.0, 0.0)


def test_episodes_depend_on_seed_and_index_alone(factory):
    again = EpisodeFactory("pick", "val", 0)
    second = again.make(2)[0]
    first = again.make(1)[0]
    assert factory.make(1)[0] == first
    assert factory.make(2)[0] == second
    assert first.episode_id == "val/1"
    assert EpisodeFactory("pick", "val", 1).make(1)[0].objects != first.objects


def test_rejections_are_counted(monkeypatch):
    factory = EpisodeFactory("pick", "val", 0)
    settle, calls = factory._settle, []

    def picky(sample):
        calls.append(sample)
        return settle(sample) if len(calls) > 2 else "too plain"

    monkeypatch.setattr(factory, "_settle", picky)
    assert factory.make(0)[1] == {"too plain": 2}
    monkeypatch.setattr(factory, "_settle", lambda sample: "too plain")
    monkeypatch.setattr(settling, "MOST_ATTEMPTS", 3)
    with pytest.raises(RuntimeError, match=r"none of 3 samples .* too plain 3"):
        factory.make(0)


def test_unknown_tasks_and_splits_are_told():
    with pytest.raises(UserError, match="juggle"):
        EpisodeFactory("juggle", "val", 0)
    with pytest.raises(UserError, match="dev"):
        EpisodeFactory("pick", "dev", 0)
