"""Who is called clear must touch nothing."""

import mujoco
import numpy as np

from rearrange.robot.fetch import FETCH
from rearrange.sim import mujoco as simulation
from rearrange.sim.apartment_model import load_apartment
from rearrange.sim.base import NOTHING
from rearrange.sim.clearance import Clearance, is_clear


def test_who_is_clear_has_no_contact():
    world = load_apartment(3, 4, FETCH)
    model, data = world.model, mujoco.MjData(world.model)
    clearance = Clearance(model, FETCH, world.scene.object_bodies)
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
            clearance.radii, FETCH.chain, joints, x, y, yaw, objects, NOTHING,
        )  # fmt: skip
        assert not (clear and touches)
        seen[clear] += 1
    assert min(seen.values()) > 30
