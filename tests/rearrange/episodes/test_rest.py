"""Objects that settling found at rest stay there, awake, for two seconds."""

import copy
import math

import mujoco
import numpy as np
import pytest

from rearrange.episodes.settling import EpisodeFactory
from rearrange.scenes.compile import TIMESTEP
from rearrange.sim import OBJECT_SLOT_COUNT, MujocoSimulator, SimulatorConfig
from rearrange.sim.apartment_model import load_apartment

SECONDS = 2.0
STILL = 0.002  # what lies still moves less [m]
UPRIGHT = 0.01  # and turns less [rad]
SCENES = [(split, index) for split in ("train", "val", "test") for index in range(10)]


@pytest.fixture(scope="module")
def factories():
    return {split: EpisodeFactory("tidy_house", split, 0) for split in ("train", "val", "test")}


def motion_of_objects(episode):
    """How far each object of an episode moves [m] and turns [rad] while none may sleep [K, 2]."""
    simulator = MujocoSimulator(1, SimulatorConfig(camera_size=8))
    simulator.reset([0], [episode])
    world, data = simulator.worlds[0], simulator.data[0]
    model = copy.copy(load_apartment(episode.layout, episode.variation).model)
    model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    first = world.object_qpos
    poses = data.qpos[first : first + 7 * OBJECT_SLOT_COUNT].reshape(-1, 7)
    slots = list(episode.objects)
    before = poses[slots].copy()
    for _ in range(round(SECONDS / TIMESTEP)):
        mujoco.mj_step(model, data)
    after = poses[slots]
    moved = np.linalg.norm(after[:, :3] - before[:, :3], axis=1)
    first_turn, last_turn = (
        pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1, keepdims=True) for pose in (before, after)
    )  # those of files are rounded
    chord = np.minimum(
        np.linalg.norm(first_turn - last_turn, axis=1),
        np.linalg.norm(first_turn + last_turn, axis=1),
    )
    return np.stack([moved, 4.0 * np.arcsin(chord / 2.0)], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("split", "index"), SCENES)
def test_objects_at_rest_stay_at_rest(factories, split, index):
    episode, _ = factories[split].make(index)
    motion = motion_of_objects(episode)
    assert len(motion) >= 20
    assert motion[:, 0].max() < STILL
    assert motion[:, 1].max() < UPRIGHT


def test_what_leans_is_found_moving(pick_episodes):
    """The measure sees motion: an object that is set down tilted does not stay so."""
    episode = pick_episodes[0]
    slot = episode.targets[0].slot
    x, y, z, *_ = episode.objects[slot]
    tilted = (x, y, z + 0.03, math.cos(0.3), math.sin(0.3), 0.0, 0.0)
    leaning = type(episode)(
        **{**vars(episode), "objects": {**episode.objects, slot: tilted}},
    )
    motion = motion_of_objects(leaning)
    assert motion[list(leaning.objects).index(slot)].max() > 0.02
