"""Apartments compiled for MuJoCo, with the robot and all objects in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

import mujoco
import numpy as np

from rearrange.navigation import OccupancyGrid, load_layout
from rearrange.render import GeomTable
from rearrange.robot import RobotSpec
from rearrange.robot.parts import add_robot, handle_connect_name, object_weld_name
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.compile import bare_home, build_spec, write_apartment
from rearrange.scenes.registry import kept_by_apartment, spec_of_layout
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.clearance import Clearance
from rearrange.sim.contacts import HANDLE, OTHER, ROBOT, SUCTION

HARDNESS = (0.02, 1.0)  # of contacts, MuJoCo's default: time constant [s], damping ratio


@dataclass(frozen=True)
class ApartmentModel:
    """A compiled apartment and the indices into it; the same indices for every home of a kind."""

    apartment: Apartment
    scene: SceneSpec
    model: mujoco.MjModel
    geoms: GeomTable
    grid: OccupancyGrid
    floor_frame: np.ndarray  # x and y of the grid's origin and its cell size [3], m
    clearance: Clearance
    roles: np.ndarray  # what each geom is, see contacts.py [G]
    first_object_body: int
    object_qpos: int  # first qpos of object 0; slots follow each other, 7 each
    object_qvel: int
    object_geoms: list[slice]  # of each slot
    object_lengths: np.ndarray  # longest side of each slot's bounding box [O], m
    arm_qpos: int
    arm_qvel: int
    joint_qpos: np.ndarray  # qpos of the articulated joints
    handle_geoms: np.ndarray
    gripper_body: int
    taker_geoms: np.ndarray  # the cup, or both fingers' pads
    weld_rows: np.ndarray  # equality of each object slot; none of fingers
    connect_rows: np.ndarray  # equality of each handle; likewise
    resting_trees: np.ndarray  # kinematic trees that start asleep: objects, doors, drawers


def load_apartment(layout: int, variation: int, robot: RobotSpec) -> ApartmentModel:
    """Generate and compile an apartment with a robot in it (cached per process)."""
    return _apartments(robot, False)(layout, variation)


def hard_apartment(layout: int, variation: int, robot: RobotSpec) -> ApartmentModel:
    """`load_apartment` with contacts of the robot as stiff as those between things."""
    return _apartments(robot, True)(layout, variation)


@cache
def _apartments(robot: RobotSpec, hard: bool) -> kept_by_apartment[ApartmentModel]:
    return kept_by_apartment(partial(_compile, robot, hard))


def _compile(robot: RobotSpec, hard: bool, layout: int, variation: int) -> ApartmentModel:
    apartment, grid = load_layout(layout, variation)
    scene = spec_of_layout(layout)
    spec, first, shared = _topology(robot, scene)
    write_apartment(spec, apartment)
    model = spec.compile()
    if hard:
        of_robot = (shared["roles"] == ROBOT) | (shared["roles"] == SUCTION)
        model.geom_solref[of_robot] = HARDNESS
    return ApartmentModel(
        apartment=apartment,
        scene=scene,
        model=model,
        # Slabs lie on the infinite floor everywhere in the apartment: nobody inside sees it.
        geoms=GeomTable.from_model(model, hidden_geoms=[model.geom("floor").id]),
        grid=grid,
        floor_frame=np.array([*grid.origin, grid.cell], dtype=float),
        clearance=first.elsewhere(model),
        **shared,
    )


@lru_cache(maxsize=4)
def _topology(
    robot: RobotSpec, scene: SceneSpec
) -> tuple[mujoco.MjSpec, Clearance, dict[str, Any]]:
    """A spec to write homes of a kind into, the clearance in one, and what all have in common with this robot.

    Models are compiled anew, which takes a millisecond, since MuJoCo sorts the solids into a tree.
    """
    spec = build_spec(bare_home(scene))
    bodies = scene.object_bodies
    add_robot(spec, robot, bodies, {joint: joint for joint in scene.joints})
    model = spec.compile()
    object_body = model.body(bodies[0]).id
    handle_geoms = np.array([model.geom(f"handle_{joint}").id for joint in scene.joints])
    joints = [model.joint(name) for name in scene.joints]
    trees = [int(model.body_treeid[model.body(name).id]) for name in (*bodies, *scene.joints)]
    shared = {
        "roles": _geom_roles(model, robot, object_body, len(bodies), handle_geoms),
        "first_object_body": object_body,
        "object_qpos": int(model.jnt_qposadr[model.body_jntadr[object_body]]),
        "object_qvel": int(model.jnt_dofadr[model.body_jntadr[object_body]]),
        "object_geoms": [_geoms_of(model, model.body(name).id) for name in bodies],
        "object_lengths": np.array([kind.longest_side for kind in scene.objects]),
        "arm_qpos": int(model.joint(robot.joint_names[0]).qposadr[0]),
        "arm_qvel": int(model.joint(robot.joint_names[0]).dofadr[0]),
        "joint_qpos": np.array([joint.qposadr[0] for joint in joints]),
        "handle_geoms": handle_geoms,
        "gripper_body": model.body(robot.gripper_body).id,
        "taker_geoms": np.array([model.geom(name).id for name in robot.takers]),
        "weld_rows": _equalities(model, robot, map(object_weld_name, range(len(bodies)))),
        "connect_rows": _equalities(model, robot, map(handle_connect_name, scene.joints)),
        "resting_trees": np.array(trees),
    }
    return spec, Clearance(model, robot, bodies), shared


def _equalities(model: mujoco.MjModel, robot: RobotSpec, names: Iterable[str]) -> np.ndarray:
    """Constraints of a suction cup by these names."""
    return np.array(
        [model.equality(name).id for name in names] if robot.fingers is None else [], int
    )


def _geoms_of(model: mujoco.MjModel, body: int) -> slice:
    first = int(model.body_geomadr[body])
    return slice(first, first + int(model.body_geomnum[body]))


def _geom_roles(
    model: mujoco.MjModel, robot: RobotSpec, object_body: int, slots: int, handle_geoms: np.ndarray
) -> np.ndarray:
    """Role of every geom for `scan_contacts` [G]."""
    roles = np.full(model.ngeom, OTHER, dtype=np.int32)
    base = model.body(robot.base.body).id
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        if object_body <= body < object_body + slots:
            roles[geom] = body - object_body
        elif model.body_rootid[body] == base:
            roles[geom] = ROBOT
    roles[handle_geoms] = HANDLE + np.arange(len(handle_geoms))
    for name in robot.takers:
        roles[model.geom(name).id] = SUCTION
    return roles
