"""All homes of a bank as stacked arrays on one model, for simulators that step many worlds at once.

Homes of a kind compile to the same bodies, geoms and joints, so one model stands for all of them and what
differs is a row of an array. Pairs of geoms that may meet are chosen once, for all homes: the model's
collision bits are the union, and what is only seen in a home is put far below its floor instead.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from rearrange.errors import UserError
from rearrange.robot import RobotSpec
from rearrange.sim.apartment_model import ApartmentModel, hard_apartment, load_apartment
from rearrange.sim.config import SimulatorConfig

Home = tuple[int, int]  # layout and variation

ROUNDING = 1e-12  # of numbers, absolute and relative: MuJoCo works some out of a home's place
DEEP = 100.0  # [m] below the floor, where nothing is met
# Of MjModel, in which homes of a kind may differ and which a step does not read as the model has them; a grasp
# is written to eq_data before it is read
UNREAD = (
    "eq_data",
    *("body_bvhadr", "body_bvhnum", "bvh_aabb", "bvh_child", "bvh_depth", "bvh_nodeid"),
    *("dof_M0", "geom_sameframe", "geom_group", "geom_rgba", "geom_contype"),
    *("name_actuatoradr", "name_bodyadr", "name_eqadr", "name_geomadr", "name_jntadr", "names"),
)
POSES = (
    "geom_xpos",
    "geom_xmat",
)  # of MjData; those of what stands still are never worked out anew


@dataclass(frozen=True)
class Bank:
    """Homes of one kind, with one robot.

    Attributes:
        homes: Layout and variation of each of the A homes.
        worlds: The compiled homes [A]; the indices of the first are those of all.
        model: Stands for all homes: it has their bits, and the first one's geometry.
        fields: Of MjModel by name, those in which the homes differ [A, ...].
        poses: Of MjData by name, with everything at its place in the model [A, ...].
        moves: Which geoms may move: those of objects, doors, drawers and the robot [G] bool.
        floors: Clearance of all floors' cells, one after another [F], float32, m.
        floor_starts: Where each home's begins in `floors` [A].
        floor_shapes: Cells of each home's along x and y [A, 2].
        floor_frames: x and y of each floor's origin and its cell size [A, 3], m.
    """

    homes: tuple[Home, ...]
    worlds: tuple[ApartmentModel, ...]
    model: mujoco.MjModel
    fields: dict[str, np.ndarray]
    poses: dict[str, np.ndarray]
    moves: np.ndarray
    floors: np.ndarray
    floor_starts: np.ndarray
    floor_shapes: np.ndarray
    floor_frames: np.ndarray

    @property
    def first(self) -> ApartmentModel:
        """The first home."""
        return self.worlds[0]

    def index_of(self, layout: int, variation: int) -> int:
        """Row of a home; UserError where the bank has no such home."""
        try:
            return self.homes.index((layout, variation))
        except ValueError:
            raise UserError(
                f"layout {layout}, variation {variation} is none of the bank's {len(self.homes)} homes"
            ) from None


def make_bank(homes: Iterable[Home], config: SimulatorConfig, robot: RobotSpec) -> Bank:
    """Compile homes and stack what differs between them.

    Raises:
        UserError: There are none, they are of several kinds, or they differ in what a step takes for the same.
    """
    homes = tuple(homes)
    if not homes:
        raise UserError("a bank needs at least one home")
    load = hard_apartment if config.hard_contacts else load_apartment
    worlds = tuple(load(layout, variation, robot) for layout, variation in homes)
    first = worlds[0]
    for world in worlds:
        if world.scene is not first.scene:
            kinds = f"{first.scene.name} and {world.scene.name}"
            raise UserError(f"a bank has homes of one kind, not of {kinds}")
    model = copy.copy(first.model)
    model.geom_contype[:] = np.bitwise_or.reduce([world.model.geom_contype for world in worlds])
    models = [_without_the_unsolid(world.model, model) for world in worlds]
    fields = {name: np.stack([getattr(m, name) for m in models]) for name in _different(models)}
    sizes = [world.grid.clearance.size for world in worlds]
    return Bank(
        homes,
        worlds,
        model,
        fields,
        _poses(models),
        _moves(model),
        np.concatenate([world.grid.clearance.ravel() for world in worlds]),
        np.cumsum([0, *sizes[:-1]]),
        np.array([world.grid.clearance.shape for world in worlds]),
        np.stack([world.floor_frame for world in worlds]),
    )


def seen_poses(world: ApartmentModel) -> tuple[np.ndarray, np.ndarray]:
    """Positions [G, 3] and rotations [G, 9] of the geoms, of what is only seen too, while nothing has moved."""
    data = mujoco.MjData(world.model)
    mujoco.mj_kinematics(world.model, data)
    return data.geom_xpos.copy(), data.geom_xmat.copy()


def _without_the_unsolid(model: mujoco.MjModel, union: mujoco.MjModel) -> mujoco.MjModel:
    """A copy in which geoms that are solid elsewhere, but not in this home, are far below the floor."""
    model = copy.copy(model)
    unsolid = (union.geom_contype != 0) & (model.geom_contype == 0)
    model.geom_pos[unsolid, 2] = -DEEP - np.arange(unsolid.sum())
    return model


def _different(models: Sequence[mujoco.MjModel]) -> list[str]:
    """Names of the model's arrays in which homes differ.

    Raises:
        UserError: One of another shape, which no row of an array can be.
    """
    found, first = [], models[0]
    public = [name for name in dir(first) if not name.startswith("_")]
    names = [name for name in public if isinstance(getattr(first, name), np.ndarray)]
    for name in sorted(set(names) - set(UNREAD)):
        values = [getattr(model, name) for model in models]
        if any(value.shape != values[0].shape for value in values):
            raise UserError(f"homes of a bank differ in the shape of the model's {name}")
        if any(not np.allclose(value, values[0], ROUNDING, ROUNDING) for value in values):
            found.append(name)
    return found


def _poses(models: Sequence[mujoco.MjModel]) -> dict[str, np.ndarray]:
    """POSES of every home, nothing moved yet [A, ...]."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in POSES}
    for model in models:
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        for name, poses in found.items():
            poses.append(getattr(data, name).copy())
    return {name: np.stack(poses) for name, poses in found.items()}


def _moves(model: mujoco.MjModel) -> np.ndarray:
    """Geoms that are on a body that joints or the simulator move [G] bool."""
    bodies = model.geom_bodyid
    on_base = model.body_mocapid[model.body_rootid[bodies]] >= 0
    return (model.body_weldid[bodies] != 0) | on_base
