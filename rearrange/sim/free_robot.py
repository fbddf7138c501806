"""Substeps in which the robot and what it holds move alone and touch nothing: most of them.

In a physics step of a whole apartment MuJoCo looks after all objects, doors and drawers, even asleep, and
after contacts. So while nothing else is awake and `is_clear` says that nothing is within reach, a small
model of the robot, or of the robot and its load, takes the step: the same equations, half the time. It
agrees with the apartment's to rounding.
"""

from __future__ import annotations

import copy
import ctypes
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import mujoco
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rearrange.caching import cached_njit
from rearrange.robot import RobotSpec
from rearrange.robot.parts import add_robot
from rearrange.scenes.compile import empty_spec
from rearrange.sim.clearance import is_clear
from rearrange.sim.kernels import place_base

LOAD = "load"  # name of the body that stands for what is held
# Fields that the small model's load takes over from the apartment's object.
BODY_FIELDS = (
    "body_mass", "body_inertia", "body_ipos", "body_iquat", "body_invweight0", "body_subtreemass",
    "body_gravcomp",
)  # fmt: skip
JOINT_FIELDS = ("dof_damping", "dof_armature", "dof_frictionloss", "dof_invweight0", "dof_M0")
WELD_FIELDS = ("eq_data", "eq_solref", "eq_solimp")


class FreeRobot:
    """The robot, with or without a load, in a world of its own; one per world of a simulator.

    Attributes:
        arguments: What `step_free` wants of it.
    """

    def __init__(self, robot: RobotSpec, loaded: bool) -> None:
        """Make one; a load has to be described by `take` before the first step."""
        shared = _compile(robot, loaded)
        model = self.model = copy.copy(shared) if loaded else shared
        data = self.data = mujoco.MjData(model)
        if loaded:
            data.eq_active[:] = True
        self.arguments = (
            *_functions(),
            model._address,  # what MuJoCo offers to those who call its C functions themselves
            data._address,
            data.qpos,
            data.qvel,
            data.qacc_warmstart,
            data.ctrl,
            data.mocap_pos[0],
            data.mocap_quat[0],
            robot.chain,
        )

    def take(self, apartment: mujoco.MjModel, body: int, weld: int) -> None:
        """Make the load like an object of the apartment, held by this weld as it is now."""
        model, load = self.model, self.model.body(LOAD).id
        joint, own = int(apartment.body_dofadr[body]), int(model.body_dofadr[load])
        for name in BODY_FIELDS:
            getattr(model, name)[load] = getattr(apartment, name)[body]
        for name in JOINT_FIELDS:
            getattr(model, name)[own : own + 6] = getattr(apartment, name)[joint : joint + 6]
        for name in WELD_FIELDS:
            getattr(model, name)[0] = getattr(apartment, name)[weld]
        model.stat.meaninertia = apartment.stat.meaninertia


@lru_cache(maxsize=8)
def _compile(robot: RobotSpec, loaded: bool) -> mujoco.MjModel:
    spec = empty_spec()
    spec.memory = 2**20  # bytes; the apartment's default is 15 times that
    if loaded:
        # Its mass is beside its origin, and turned: where both frames of a body are one MuJoCo works
        # with one, and a bowl has two
        inertia = {"mass": 1.0, "inertia": (1.0, 1.2, 1.4), "explicitinertial": True}
        frame = {"ipos": (0.1, 0.2, 0.3), "iquat": (0.5, 0.5, 0.5, 0.5)}
        load = spec.worldbody.add_body(name=LOAD, **inertia, **frame)
        load.add_freejoint()
    add_robot(spec, robot, (LOAD,) if loaded else (), {})
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


@lru_cache(maxsize=1)
def _functions() -> tuple[int, int]:
    """Addresses of MuJoCo's mj_step and mj_kinematics."""
    (path,) = Path(mujoco.__file__).parent.glob("libmujoco.*")
    library = ctypes.CDLL(str(path))  # loaded already: this finds it
    functions = (library.mj_step, library.mj_kinematics)
    step, pose = (ctypes.cast(function, ctypes.c_void_p).value for function in functions)
    assert step is not None
    assert pose is not None
    return step, pose


@intrinsic
def _call(_, function, model, data):  # type: ignore[no-untyped-def]
    """Call a C function `void f(mjModel*, mjData*)`, all given as addresses."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = cgutils.voidptr_t
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer])
        address = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(address, [builder.inttoptr(value, pointer) for value in arguments[1:]])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), generate


_KERNEL: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


@cached_njit(**_KERNEL)
def teleport(motion, position, rotation, objects, held):  # type: ignore[no-untyped-def]
    """Move the base, and what it holds, by a substep's part of the way.

    Args:
        motion: Where the base is (x, y, yaw), updated, and how it moves [6], m and rad.
        position: Of the base in MjData, updated [3].
        rotation: Its quaternion, updated [4].
        objects: Positions and quaternions in qpos [O, 7].
        held: Slot in the hand or -1. It moves rigidly with the base, as in HAB.
    """
    x, y, dx, dy, turn = motion[0], motion[1], motion[3], motion[4], motion[5]
    new_x, new_y, new_yaw = x + dx, y + dy, motion[2] + turn
    motion[0], motion[1], motion[2] = new_x, new_y, new_yaw
    place_base(position, rotation, new_x, new_y, new_yaw)
    if held >= 0 and (dx != 0.0 or dy != 0.0 or turn != 0.0):
        cos, sin = math.cos(turn), math.sin(turn)
        u, v = objects[held, 0] - x, objects[held, 1] - y
        objects[held, 0] = new_x + cos * u - sin * v
        objects[held, 1] = new_y + sin * u + cos * v
        cos, sin = math.cos(0.5 * turn), math.sin(0.5 * turn)
        w, qx, qy, qz = objects[held, 3], objects[held, 4], objects[held, 5], objects[held, 6]
        objects[held, 3], objects[held, 4] = cos * w - sin * qz, cos * qx - sin * qy
        objects[held, 5], objects[held, 6] = cos * qy + sin * qx, cos * qz + sin * w


@cached_njit(**_KERNEL)
def _copy(source, start, target, first, count):  # type: ignore[no-untyped-def]
    for k in range(count):
        target[first + k] = source[start + k]


@cached_njit(**_KERNEL)
def step_free(  # type: ignore[no-untyped-def]
    call_step, call_kinematics, small_model, small_data, small_qpos, small_qvel, small_warm,
    small_ctrl, small_position, small_rotation, chain,
    budget, apartment_model, apartment_data, qpos, qvel, warm, ctrl, position, rotation, arm_qpos,
    arm_qvel, object_qpos, object_qvel, objects, held, motion,
    spheres, boxes, base_boxes, moving_boxes, radii,
):  # fmt: skip
    # Arguments: FreeRobot.arguments; how many substeps at most; WorldViews.physics of the apartment;
    # slot of the load or -1; see `teleport`; see `is_clear`.
    """Take up to `budget` substeps in the small model, as long as nothing is within reach.

    Both MjData hold the same afterwards, and the apartment's poses are of the begin of the last substep
    of the budget, as after MuJoCo's own step.

    Returns:
        Substeps that were taken. If fewer than the budget, the base stands where the next one begins.
    """
    count = len(small_ctrl)  # of the arm's joints, and after them of the fingers'
    arm = qpos[arm_qpos : arm_qpos + len(chain) - 3]
    load_qpos, load_qvel = object_qpos + 7 * held, object_qvel + 6 * held
    own_qpos, own_qvel = len(small_qpos) - count, len(small_qvel) - count  # of the arm
    _copy(ctrl, 0, small_ctrl, 0, count)
    for taken in range(budget):
        teleport(motion, position, rotation, objects, held)
        if not is_clear(
            spheres, boxes, base_boxes, moving_boxes, radii, chain, arm, motion[0], motion[1],
            motion[2], objects, held,
        ):  # fmt: skip
            return taken
        if taken == budget - 1:
            _call(call_kinematics, apartment_model, apartment_data)  # pyright: ignore
        _copy(position, 0, small_position, 0, 2)
        _copy(rotation, 0, small_rotation, 0, 4)
        _copy(qpos, arm_qpos, small_qpos, own_qpos, count)
        _copy(qvel, arm_qvel, small_qvel, own_qvel, count)
        _copy(warm, arm_qvel, small_warm, own_qvel, count)
        if held >= 0:
            _copy(qpos, load_qpos, small_qpos, 0, 7)
            _copy(qvel, load_qvel, small_qvel, 0, 6)
            _copy(warm, load_qvel, small_warm, 0, 6)
        _call(call_step, small_model, small_data)  # pyright: ignore
        _copy(small_qpos, own_qpos, qpos, arm_qpos, count)
        _copy(small_qvel, own_qvel, qvel, arm_qvel, count)
        _copy(small_warm, own_qvel, warm, arm_qvel, count)
        if held >= 0:
            _copy(small_qpos, 0, qpos, load_qpos, 7)
            _copy(small_qvel, 0, qvel, load_qvel, 6)
            _copy(small_warm, 0, warm, load_qvel, 6)
    return budget
