"""Switching off the search for contacts must never change what happens."""

import mujoco
import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.sim import mujoco as simulation
from rearrange.sim.base import NOTHING
from rearrange.sim.clearance import Clearance, is_clear
from rearrange.sim.mujoco import SimulatorConfig, load_apartment

STEPS = 150


def roll_out(seed: int) -> tuple[np.ndarray, int]:
    """What happens when the robot drives and reaches about at random; and its steps in contact."""
    env = RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=8))
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    told, touched = [], 0
    for _ in range(STEPS):
        action = rng.normal(0.5, 1.0, env.task.action_size)
        env.step_physical(env.task.action.scale() * np.clip(action[:10], -1, 1))
        state = env.state
        touched += bool(state.contact_force[0] > 0.0)
        told.append(
            np.concatenate(
                [
                    state.arm_joints[0],
                    state.base_pose[0],
                    state.object_position[0].ravel(),
                    state.object_rotation[0].ravel(),
                    state.articulated_joints[0],
                    state.contact_force,
                ]
            )
        )
    env.close()
    return np.array(told), touched


@pytest.mark.parametrize("seed", [2, 3])
def test_trajectories_are_the_same_bit_for_bit(seed, monkeypatch):
    kernel, answers = simulation.begin_substep, []

    def record(*arguments):
        answers.append(kernel(*arguments))
        return answers[-1]

    def never_clear(*arguments):
        kernel(*arguments)
        return False

    monkeypatch.setattr(simulation, "begin_substep", record)
    found, touched = roll_out(seed)
    monkeypatch.setattr(simulation, "begin_substep", never_clear)
    expected, _ = roll_out(seed)
    np.testing.assert_array_equal(found, expected)
    assert touched > 0  # there was something to miss
    assert sum(answers) > STEPS // 4  # and something to spare


def test_who_is_clear_has_no_contact():
    world = load_apartment(3, 4)
    model, data = world.model, mujoco.MjData(world.model)
    clearance = Clearance(model)
    robot = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name[:6] == "fetch_"]
    rng = np.random.default_rng(0)
    seen = {True: 0, False: 0}
    low, high = np.array(world.apartment.bounds[:2]), np.array(world.apartment.bounds[2:])
    objects = data.qpos[world.object_qpos : world.object_qpos + 210].reshape(30, 7)
    for slot in range(30):  # in the air all over the place
        objects[slot, :3] = *rng.uniform(low, high), rng.uniform(0.1, 1.3)
    for _ in range(300):
        joints = rng.uniform(-1.2, 1.4, 7)
        data.qpos[world.arm_qpos : world.arm_qpos + 7] = joints
        data.qpos[world.joint_qpos] = rng.uniform(0.0, (1.5, 0.4, 0.4, 0.4, 0.4))
        x, y = rng.uniform(low, high)
        yaw = rng.uniform(-3, 3)
        simulation.place_base(data.mocap_pos[0], data.mocap_quat[0], x, y, yaw)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        touches = bool(np.isin(data.contact.geom[: data.ncon], robot).any())
        clear = is_clear(
            clearance.spheres, clearance.boxes, clearance.base_boxes, clearance.moving_boxes(data),
            clearance.radii, joints, x, y, yaw, objects, NOTHING,
        )  # fmt: skip
        assert not (clear and touches)
        seen[clear] += 1
    assert min(seen.values()) > 30
