import copy
import dataclasses
from typing import ClassVar

import numpy as np
import pytest

from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.testing import check_simulator, conformance


def make_simulator(world_count: int, kind: type[MujocoSimulator] = MujocoSimulator):
    return kind(world_count, SimulatorConfig(camera_size=48))


def test_the_default_simulator_conforms(pick_episodes):
    check_simulator(make_simulator, pick_episodes)


class ResetsWorldZeroToo(MujocoSimulator):
    def reset(self, world_ids, episodes):
        super().reset(world_ids, episodes)
        if 0 not in world_ids:
            super().reset([0], [episodes[0]])


class TurnsClockwise(MujocoSimulator):
    def step(self, action):
        super().step(action * np.where(np.arange(10) == 9, -1.0, 1.0))


class DrivesThroughWalls(MujocoSimulator):
    def step(self, action):
        before = self.state.base_pose.copy()
        super().step(action)
        self.state.base_pose[:, 0] = before[:, 0] + action[:, 8] * np.cos(before[:, 2])
        self.state.base_pose[:, 1] = before[:, 1] + action[:, 8] * np.sin(before[:, 2])
        self.state.base_blocked[:] = False


class NeverSaysBlocked(MujocoSimulator):
    def step(self, action):
        super().step(action)
        self.state.base_blocked[:] = False


class Drifts(MujocoSimulator):
    def step(self, action):
        super().step(action)
        self.state.base_pose[:, 0] += 1e-9


class IsRandom(MujocoSimulator):
    noise = np.random.default_rng()

    def step(self, action):
        super().step(action * (1.0 + 1e-12 * self.noise.uniform()))


class WritesIntoTheAction(MujocoSimulator):
    def step(self, action):
        super().step(action)
        action[:] = 0.0


class ReplacesItsState(MujocoSimulator):
    def step(self, action):
        super().step(action)
        self.state = copy.copy(self.state)


class ReplacesAnArray(MujocoSimulator):
    def reset(self, world_ids, episodes):
        super().reset(world_ids, episodes)
        self.state.arm_joints = self.state.arm_joints.copy()


class HasScalarLastQuaternions(MujocoSimulator):
    def reset(self, world_ids, episodes):
        super().reset(world_ids, episodes)
        self.state.object_rotation[:] = np.roll(self.state.object_rotation, -1, axis=-1)


class HasAStiffWrist(MujocoSimulator):
    def step(self, action):
        super().step(action * np.where(np.arange(10) == 6, 0.0, 1.0))


class LiftsItsHand(MujocoSimulator):
    def step(self, action):
        super().step(action)
        self.state.end_effector_position[:, 2] += 0.01


class SeesMillimetres(MujocoSimulator):
    def render_depth(self, *size, **asked):
        return super().render_depth(*size, **asked) * np.float32(1000.0)


class SeesDoubles(MujocoSimulator):
    def render_depth(self, *size, **asked):
        return super().render_depth(*size, **asked).astype(float)


class SeesMetresOnly(MujocoSimulator):
    def render_depth(self, *size, **asked):
        return super().render_depth(*size)


class SeesTheFirstWorldAlone(MujocoSimulator):
    def render_depth(self, *size, ids=None, **unit):
        depth = super().render_depth(*size, **unit)
        return depth if ids is None else depth[: len(ids)]


class ReusesItsImage(MujocoSimulator):
    images: ClassVar[dict] = {}

    def render_depth(self, *size, **asked):
        depth = super().render_depth(*size, **asked)
        image = self.images.setdefault(depth.shape, depth)
        image[:] = depth
        return image


class LooksUpsideDown(MujocoSimulator):
    def render_depth(self, *size, **asked):
        return super().render_depth(*size, **asked)[:, ::-1]


class SeesOnlyTheFirstWorld(MujocoSimulator):
    def render_depth(self, *size, **asked):
        depth = super().render_depth(*size, **asked)
        depth[1:] = depth[0]
        return depth


class TouchesFromAfar(MujocoSimulator):
    def step(self, action):
        super().step(action)
        gap = self.state.object_position - self.state.end_effector_position[:, None]
        self.state.touched_object[:] = np.linalg.norm(gap, axis=-1).argmin(axis=-1)


class NeverGrasps(MujocoSimulator):
    def step(self, action):
        self.state.touched_object[:] = -1
        super().step(action)


class NeverLetsGo(MujocoSimulator):
    def step(self, action):
        if self.state.held_object[0] >= 0:
            action = np.where(np.arange(10) == 7, 1.0, action)
        super().step(action)


class ForgetsWhatIsHeld(MujocoSimulator):
    def reset(self, world_ids, episodes):
        super().reset(world_ids, [dataclasses.replace(e, held_slot=None) for e in episodes])


class ClosesOnce(MujocoSimulator):
    def close(self):
        del self.data


class SaysItRestsElsewhere(MujocoSimulator):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.state.robot = dataclasses.replace(self.state.robot, resting_tip=(0.6, 0.0, 0.9))


FAULTS = [
    (ResetsWorldZeroToo, conformance.check_reset_leaves_other_worlds, "another world"),
    (TurnsClockwise, conformance.check_base_motion, "turning left"),
    (DrivesThroughWalls, conformance.check_obstacles, "inside an obstacle"),
    (NeverSaysBlocked, conformance.check_obstacles, "base_blocked"),
    (Drifts, conformance.check_idle, "an idle base moves"),
    (IsRandom, conformance.check_determinism, "differs"),
    (WritesIntoTheAction, conformance.check_state_layout, "write into the action"),
    (ReplacesItsState, conformance.check_state_layout, "same object"),
    (ReplacesAnArray, conformance.check_state_layout, "write into arm_joints"),
    (HasScalarLastQuaternions, conformance.check_reset, "wxyz"),
    (HasAStiffWrist, conformance.check_arm, "wrist_roll"),
    (SaysItRestsElsewhere, conformance.check_arm, "resting_tip"),
    (LiftsItsHand, conformance.check_arm, "end_effector_position"),
    (SeesMillimetres, conformance.check_depth, "below the floor"),
    (SeesDoubles, conformance.check_depth, "float32"),
    (SeesMetresOnly, conformance.check_depth, "units of 10 m"),
    (SeesTheFirstWorldAlone, conformance.check_depth, "world 1 alone is another"),
    (ReusesItsImage, conformance.check_depth, "overwritten"),
    (LooksUpsideDown, conformance.check_depth, "floor"),
    (SeesOnlyTheFirstWorld, conformance.check_depth, "nothing moves"),
    (TouchesFromAfar, conformance.check_grasp, "in the open"),
    (NeverGrasps, conformance.check_grasp, "took none"),
    (NeverLetsGo, conformance.check_grasp, "does not let go"),
    (ForgetsWhatIsHeld, conformance.check_held_start, "lost at once"),
]


@pytest.mark.parametrize(("kind", "check", "message"), FAULTS)
def test_a_broken_simulator_is_told(kind, check, message, pick_episodes):
    with pytest.raises(AssertionError, match=message):
        check(lambda count: make_simulator(count, kind), pick_episodes)


def test_closing_twice_must_work(pick_episodes):
    with pytest.raises(AttributeError):
        conformance.check_close(lambda n: make_simulator(n, ClosesOnce), pick_episodes)


def test_every_check_is_run():
    checks = {name for name in vars(conformance) if name.startswith("check_")}
    assert checks - {"check_simulator"} == {check.__name__ for check in conformance.CHECKS}
