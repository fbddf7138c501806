"""Who is called clear must touch nothing."""

import mujoco
import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.robot.fetch_fingers import FETCH_FINGERS
from rearrange.robot.mast import MAST
from rearrange.sim import mujoco as simulation
from rearrange.sim.apartment_model import load_apartment
from rearrange.sim.base import NOTHING
from rearrange.sim.clearance import Clearance, is_clear


@pytest.mark.parametrize(
    ("robot", "low_arm", "high_arm"),
    [
        (FETCH, np.full(7, -1.2), np.full(7, 1.4)),
        (MAST, *MAST.limits),
        (FETCH_FINGERS, np.full(7, -1.2), np.full(7, 1.4)),
    ],
)
def test_who_is_clear_has_no_contact(robot, low_arm, high_arm):
    world = load_apartment(3, 4, robot)
    model, data = world.model, mujoco.MjData(world.model)
    clearance = Clearance(model, robot, world.scene.object_bodies)
    base = model.body(robot.base.body).id
    own = np.flatnonzero(model.body_rootid[model.geom_bodyid] == base)
    fingers = world.arm_qpos + len(robot.joints)
    rng = np.random.default_rng(0)
    seen = {True: 0, False: 0}
    low, high = np.array(world.apartment.bounds[:2]), np.array(world.apartment.bounds[2:])
    objects = data.qpos[world.object_qpos : world.object_qpos + 210].reshape(30, 7)
    for slot in range(30):  # in the air all over the place
        objects[slot, :3] = *rng.uniform(low, high), rng.uniform(0.1, 1.3)
    for _ in range(300):
        joints = rng.uniform(low_arm, high_arm)
        data.qpos[world.arm_qpos : world.arm_qpos + len(joints)] = joints
        if robot.fingers is not None:
            data.qpos[fingers : fingers + 2] = rng.uniform(0.0, robot.fingers.travel)
        data.qpos[world.joint_qpos] = rng.uniform(0.0, (1.5, 0.4, 0.4, 0.4, 0.4))
        x, y = rng.uniform(low, high)
        yaw = rng.uniform(-3, 3)
        simulation.place_base(data.mocap_pos[0], data.mocap_quat[0], x, y, yaw)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        touches = bool(np.isin(data.contact.geom[: data.ncon], own).any())
        clear = is_clear(
            clearance.spheres, clearance.boxes, clearance.base_boxes, clearance.moving_boxes(data),
            clearance.radii, robot.chain, joints, x, y, yaw, objects, NOTHING,
        )  # fmt: skip
        assert not (clear and touches)
        seen[clear] += 1
    assert min(seen.values()) > 30
