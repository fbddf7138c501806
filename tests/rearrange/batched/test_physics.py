"""Homes on Warp's CPU device do what the simulator on the CPU does."""

import numpy as np
import pytest

from rearrange.batched.bank import make_bank
from rearrange.batched.starts import make_starts
from rearrange.errors import UserError
from rearrange.robot import find_robot
from rearrange.sim import MujocoSimulator, SimulatorConfig
from tests.helpers.held_objects import holding

pytest.importorskip("warp")
pytest.importorskip("mujoco_warp")

POSES = ("arm_joints", "end_effector_position", "object_position", "handle_position", "base_pose")
TOLERANCE = 1e-4  # m or rad
ALL = [0, 1]


class Pair:
    """Two worlds in two apartments, the second with an object in its hand, on both simulators."""

    def __init__(self, episodes):
        from rearrange.batched.physics import BatchedPhysics

        config, robot = SimulatorConfig(), find_robot()
        self.episodes = [episodes[0], holding(episodes[1])]
        self.cpu = MujocoSimulator(2, config)
        homes = [(episode.layout, episode.variation) for episode in self.episodes]
        assert len(set(homes)) == 2
        bank = make_bank(homes, config, robot)
        self.bank = bank
        self.starts = make_starts(MujocoSimulator(1, config), bank, self.episodes)
        self.device = BatchedPhysics(bank, 2, config, robot, "cpu")
        self.pool = self.device.upload(self.starts)

    def reset(self):
        self.cpu.reset(ALL, self.episodes)
        self.device.reset(ALL, self.pool, ALL)

    def step(self, action):
        self.cpu.step(action)
        self.device.step(action)
        self.device.check()

    def assert_agree(self, tolerance=TOLERANCE):
        found, true = self.device.records.numpy(), self.cpu.state.worlds
        for name in POSES:
            np.testing.assert_allclose(found[name], true[name], atol=tolerance, err_msg=name)
        for name in ("held_object", "held_handle", "touched_object", "touched_handle"):
            np.testing.assert_array_equal(found[name], true[name], err_msg=name)
        return found


@pytest.fixture(scope="module")
def pair(pick_episodes):
    return Pair(pick_episodes)


def random_action(rng, grip):
    action = np.zeros((2, 10))
    action[:, :7] = rng.uniform(-0.03, 0.03, (2, 7))
    action[:, 7] = grip
    action[:, 8:] = rng.uniform(-0.04, 0.04, (2, 2))
    return action


@pytest.mark.parametrize("steps", [9, pytest.param(30, marks=pytest.mark.slow)])
def test_steps_of_the_same_actions_end_in_the_same_poses(pair, steps):
    pair.reset()
    start = pair.assert_agree(1e-6)
    rng = np.random.default_rng(0)
    for k in range(steps):
        if k % 6 == 0:
            action = random_action(rng, 1.0)
        pair.step(action)
    end = pair.assert_agree()
    assert end["held_object"].tolist() == [-1, 0]
    assert np.abs(end["arm_joints"] - start["arm_joints"]).max() > 0.1
    assert np.linalg.norm(end["base_pose"] - start["base_pose"], axis=1).min() > 0.05
    moved = end["object_position"][1, 0] - start["object_position"][1, 0]
    assert np.linalg.norm(moved) > 0.05


def test_a_handle_is_held_where_it_was_taken(pair):
    """Here far from its middle: the cup is told to touch what it does not."""
    pair.reset()
    handle = len(pair.cpu.scene.parts) - 1
    touched = pair.device.records.seen.touched_handle
    touched.assign(np.array([handle, -1]))
    pair.cpu.state.touched_handle[0] = handle
    action = np.zeros((2, 10))
    action[:, 7] = 1.0
    for _ in range(3):
        pair.step(action)
        found = pair.assert_agree()
        assert found["held_handle"].tolist() == [handle, -1]
        assert not found["hold_violated"].any()
    away = found["handle_position"][0, handle] - found["end_effector_position"][0]
    assert np.linalg.norm(away) > 0.3


def test_what_is_let_go_falls_as_on_the_cpu(pair):
    pair.reset()
    start = pair.device.records.numpy()["object_position"][1, 0, 2]
    action = np.zeros((2, 10))
    action[:, 7] = -1.0
    for _ in range(6):
        pair.step(action)
    end = pair.assert_agree()
    assert end["held_object"].tolist() == [-1, -1]
    assert end["object_position"][1, 0, 2] < start - 0.1


def test_a_reset_of_one_world_leaves_the_other(pair):
    pair.reset()
    action = random_action(np.random.default_rng(1), 1.0)
    for _ in range(3):
        pair.step(action)
    before = pair.device.records.numpy()
    pair.device.reset([0], pair.pool, [0])
    pair.cpu.reset([0], pair.episodes[:1])
    after = pair.assert_agree()
    assert after[1] == before[1]
    assert not np.array_equal(after["arm_joints"][0], before["arm_joints"][0])
    pair.step(action)
    pair.assert_agree()


def test_too_little_room_ends_the_run_with_the_number_to_raise(pair):
    from rearrange.batched.physics import BatchedPhysics, Capacities

    room = Capacities(rows=4)
    device = BatchedPhysics(pair.bank, 2, SimulatorConfig(), find_robot(), "cpu", room)
    device.reset(ALL, device.upload(pair.starts), ALL)
    device.step(np.zeros((2, 10)))
    with pytest.raises(UserError, match=r"capacities\.rows=4 is too little for 2 worlds: raise it"):
        device.check()


def test_the_number_to_raise_is_enough(pair, monkeypatch):
    """Also where one world may have as many rows as all together have contacts."""
    from rearrange.batched.physics import FEWEST_CONTACTS, BatchedPhysics, Capacities

    room = Capacities(rows=FEWEST_CONTACTS)
    device = BatchedPhysics(pair.bank, 2, SimulatorConfig(), find_robot(), "cpu", room)
    none = {"rows": 0, "dofs": 0, "contacts": 0, "pairs": 0}
    monkeypatch.setattr(device, "peaks", lambda: none | {"rows": 2000})
    with pytest.raises(UserError, match=r"capacities\.rows=1024 is .* raise it to 2500 or more$"):
        device.check()
    monkeypatch.setattr(device, "peaks", lambda: none | {"pairs": 2000})
    with pytest.raises(UserError, match=r"capacities\.contacts=48 is .* raise it to 1250 or more$"):
        device.check()


def test_a_device_that_is_not_there_is_told_in_one_line(pair):
    from rearrange.batched.physics import BatchedPhysics

    with pytest.raises(UserError, match="device=cuda:63: there is no such device here, but"):
        BatchedPhysics(pair.bank, 2, SimulatorConfig(), find_robot(), "cuda:63")
