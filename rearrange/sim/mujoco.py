"""The default simulator: MuJoCo on the CPU, depth by the analytic caster.

All apartments share one topology, so a world changes its apartment by switching between compiled models
while its MjData stays. Models are cached per process and shared by its worlds; what depends on a world, the
pose of a grasp and what the load may touch, is written before that world steps. Where friction or mass
are randomised, or several threads step worlds, a world steps a copy of its own.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from rearrange.episodes.episode import Episode
from rearrange.errors import UserError
from rearrange.render import Camera, look_at
from rearrange.robot import find_robot
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.compile import ROBOT_BIT
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.apartment_model import ApartmentModel, hard_apartment, load_apartment
from rearrange.sim.base import NOTHING, SimState
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.contacts import largest_force, push_on_robot, scan_contacts
from rearrange.sim.finger_grip import FingerGrip
from rearrange.sim.free_robot import step_free, teleport
from rearrange.sim.grip import Grip
from rearrange.sim.kernels import (
    SUBSTEP_COUNT,
    begin_step,
    keep_pace,
    place_base,
    place_camera,
    read_world,
    set_motion,
    yield_to,
)
from rearrange.sim.randomisation import Drawn
from rearrange.sim.scratch import Scratch
from rearrange.sim.suction import Suction
from rearrange.sim.views import WorldViews
from rearrange.threads import Threads

# MuJoCo counts a resting tree's `tree_asleep` up to -1 and then lets it sleep: start there.
ABOUT_TO_SLEEP = -1


class MujocoSimulator:
    """N apartments, each with its own MjData; see rearrange.sim.base for the contract."""

    def __init__(
        self,
        world_count: int = 1,
        config: SimulatorConfig | None = None,
        scene: SceneSpec = APARTMENT,
        threads: int = 1,
    ) -> None:
        """Allocate the state; worlds hold nothing until they are reset to homes of this kind.

        What worlds do does not depend on the number of threads that step and draw them.
        """
        self.config = config or SimulatorConfig()
        self.config.randomise.check()
        robot = self._robot = find_robot(self.config.robot)
        self.world_count = world_count
        self.scene = scene
        self.state = SimState(world_count, robot, scene)
        self.worlds: list[ApartmentModel | None] = [None] * world_count
        self.data: list[mujoco.MjData | None] = [None] * world_count
        self._views: list[WorldViews | None] = [None] * world_count
        self._threads = Threads(threads)
        self._scratch = [Scratch() for _ in range(self._threads.count)]
        self._lenses: dict[int, np.ndarray] = {}
        self._arm_targets = np.zeros((world_count, len(robot.joints)))
        self._lead = self.config.target_lead * robot.units
        has_cup, threshold = robot.fingers is None, self.config.hold_threshold
        self._grip: Grip = Suction(self.state, threshold) if has_cup else FingerGrip(self.state)
        self._steps = np.zeros(world_count, int)  # actions since the reset
        self._motion = np.empty((world_count, 6))  # of the bases in this step, see begin_step
        self._mount = look_at(robot.camera.position, robot.camera.target)  # base from camera
        self._mounts = [(robot.camera.position, self._mount)] * world_count  # of each world
        self._drawn: list[Drawn | None] = [None] * world_count  # what is randomised in each

    # --- contract -----------------------------------------------------------------------------------

    def reset(self, world_ids: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Load the episodes into the worlds; see the contract."""
        for i, episode in zip(world_ids, episodes, strict=True):
            self._reset_world(i, episode)

    def step(self, action: np.ndarray) -> None:
        """Advance all worlds by one action [N, J + 3]; see the contract."""
        self._threads.each(lambda i, _: self._step_world(i, action), self.world_count)

    def render_depth(
        self,
        size: int | None = None,
        unit: float = 1.0,
        ids: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Head camera depth [N, H, W], zeros where no world is loaded; see the contract."""
        size = size or self.config.camera_size
        which = range(self.world_count) if ids is None else ids
        depth = np.empty((len(which), size, size), np.float32)
        lens = self._lens(size)

        def draw(k: int, thread: int) -> None:
            self._draw(which[k], lens, self._scratch[thread], depth[k], unit)

        self._threads.each(draw, len(which))
        return depth

    def camera_pose(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Head camera of world i: position [3] and world-from-camera rotation [3, 3]."""
        position, rotation = np.empty(3), np.empty((3, 3))
        place_camera(self.state.base_pose[i], *self._mounts[i], position, rotation)
        return position, rotation

    def close(self) -> None:
        """Drop worlds and data."""
        self._threads.close()
        self.worlds = [None] * self.world_count
        self.data = [None] * self.world_count
        self._views = [None] * self.world_count

    # --- images --------------------------------------------------------------------------------------

    def _lens(self, size: int) -> np.ndarray:
        """The lens of a camera of this size."""
        if size not in self._lenses:
            self._lenses[size] = Camera(size, size, self._robot.camera.field_of_view).lens()
        return self._lenses[size]

    def _draw(
        self, i: int, lens: np.ndarray, scratch: Scratch, depth: np.ndarray, unit: float
    ) -> None:
        """Draw what the camera of world i sees [H, W]."""
        world, views = self.worlds[i], self._views[i]
        if world is None or views is None:
            depth[:] = 0.0
            return
        size = len(depth)
        place_camera(self.state.base_pose[i], *self._mounts[i], scratch.eye, scratch.turn)
        drawn = self._drawn[i]
        changed = drawn is not None and drawn.changes_depth
        world.geoms.cast(
            views.geom_position, views.geom_rotation, scratch.eye, scratch.turn, lens, scratch.work,
            scratch.image(size), None, depth, size, 1.0 if changed else unit,
        )  # fmt: skip
        if drawn is not None and changed:
            drawn.disturb_depth(depth, int(self._steps[i]))
            depth /= np.float32(unit)

    # --- one world -----------------------------------------------------------------------------------

    def _world(self, i: int) -> tuple[ApartmentModel, mujoco.MjData]:
        world, data = self.worlds[i], self.data[i]
        if world is None or data is None:
            raise RuntimeError(f"world {i} was never reset: call reset([{i}], [episode]) first")
        return world, data

    def _view(self, i: int) -> WorldViews:
        views = self._views[i]
        assert views is not None
        return views

    def _reset_world(self, i: int, episode: Episode) -> None:
        load = hard_apartment if self.config.hard_contacts else load_apartment
        world = load(episode.layout, episode.variation, self._robot)
        if world.scene is not self.scene:
            raise UserError(
                f"layout {episode.layout} is a home of kind {world.scene.name}, the simulator was made for "
                f"{self.scene.name}: make it with scene= of that kind"
            )
        drawn = self._drawn[i] = self.config.randomise.draw(episode.seed, self.scene)
        if drawn is not None:
            self._mounts[i] = drawn.mount(self._robot.camera, self._mount)
        changes = drawn is not None and drawn.changes_model
        if changes or self._threads.count > 1:  # where another world may step at the same time
            world = replace(world, model=copy.copy(world.model))
        if drawn is not None and changes:
            drawn.change_model(world.model, world.first_object_body)
        data = self.data[i]
        if data is None:
            data = self.data[i] = mujoco.MjData(world.model)
            self._views[i] = WorldViews(world, data, self._robot)
        self.worlds[i] = world
        mujoco.mj_resetData(world.model, data)
        objects = episode.objects if drawn is None else drawn.moved(episode.objects)
        for slot, pose in objects.items():
            start = world.object_qpos + 7 * slot
            data.qpos[start : start + 7] = pose
        for k, joint in enumerate(self.scene.joints):
            data.qpos[world.joint_qpos[k]] = episode.articulated.get(joint, 0.0)
        arm = np.asarray(episode.arm_joints, dtype=float)
        views = self._view(i)
        views.arm_joints[:] = arm
        views.arm_targets[:] = arm
        self._arm_targets[i] = arm
        self._steps[i] = 0
        self.state.base_pose[i] = episode.base_pose
        self.state.base_blocked[i] = False
        self._grip.reset(i, world, data)
        place_base(views.base_position, views.base_rotation, *episode.base_pose)
        if episode.held_slot is not None:
            self._grip.put_into_hand(i, world, data, views, episode.held_slot, episode.grasp)
        data.tree_asleep[world.resting_trees] = ABOUT_TO_SLEEP
        views.doors_known = False
        views.pace[:] = 1.0
        self._step_apartment(i, world, data)
        # What the robot touches at the start is asked for: things that come to rest do not count.
        self._read(i, world, data, views, True, False)

    def _step_world(self, i: int, action: np.ndarray) -> None:
        """Take the action of world i, of all actions [N, J + 3]."""
        world, data = self._world(i)
        state, views, grid, config = self.state, self._view(i), world.grid, self.config
        robot = self._robot
        change = begin_step(
            state.worlds, i, action, self._arm_targets, views.arm_joints, views.arm_targets,
            self._lead, robot.limits, grid.clearance, world.floor_frame, robot.base.radius,
            config.slide, self._motion[i],
        )  # fmt: skip
        holds = bool(action[i, robot.actions.grip] >= 0.0)
        self._grip.begin_step(i, world, data, views, change, holds)
        advance = self._advance_at_pace if self.config.stall else self._advance
        touching = advance(i, world, data, views)
        self._steps[i] += 1
        slipped = self._read(i, world, data, views, touching, self.config.scene_force)
        self._grip.end_step(i, world, data, touching, slipped)

    def _advance_at_pace(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews
    ) -> bool:
        """`_advance` with a base that goes no faster than what it runs into lets it."""
        motion, pace = self._motion[i], views.pace
        slow = keep_pace(motion, views.commanded, pace)
        touching = self._advance(i, world, data, views)
        if slow or pace[0] < 1.0 or pace[1] < 1.0:
            turned = (motion[2] + math.pi) % (2 * math.pi) - math.pi
            self.state.base_pose[i] = motion[0], motion[1], turned
        return touching

    def _advance(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews
    ) -> bool:
        """Step physics, teleporting the base and what it holds a part of the way in every substep.

        Returns:
            Whether contacts were looked for in the last substep.
        """
        held, robot = int(self.state.held_object[i]), self._grip.free_robot(i, views)
        movers = 1 if held == NOTHING else 2  # if nothing but the robot, and its load, moves
        motion = self._motion[i]
        around, taken = world.clearance, 0
        while True:
            alone = data.ntree_awake == movers and (held == NOTHING or views.load_awake)
            if robot is not None and alone:
                if not views.doors_known:
                    views.moving_boxes, views.doors_known = around.moving_boxes(data), True
                taken += step_free(
                    *robot.arguments, SUBSTEP_COUNT - taken, world.model._address, *views.physics,
                    held, motion, around.spheres, around.boxes, around.base_boxes, views.moving_boxes,
                    around.radii,
                )  # fmt: skip
                if taken == SUBSTEP_COUNT:
                    return False
            else:
                views.doors_known = False
                teleport(motion, views.base_position, views.base_rotation, views.objects, held)
            self._step_apartment(i, world, data)
            taken += 1
            if self.config.stall and data.ncon and (motion[3] or motion[4] or motion[5]):
                self._yield(i, world, data, views)
            if taken == SUBSTEP_COUNT:
                return True

    def _yield(self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews) -> None:
        """Take back what of the last substep's motion the wheels could not have made, and slow down.

        What runs at 2.5 m/s into a thing that stands still is two centimetres deep in it after one substep.
        """
        motion, held, contact = self._motion[i], int(self.state.held_object[i]), data.contact
        push = push_on_robot(
            data.ncon, contact.geom, contact.frame, contact.pos, contact.efc_address,
            data.efc_force, world.roles, held, int(self.state.held_handle[i]), views.base_position,
        )  # fmt: skip
        base = self._robot.base
        drive, turn = yield_to(push, motion, views.pace, base.drive_force, base.turn_torque)
        if not (drive or turn):
            return
        motion[3:] *= (-drive, -drive, -turn)
        teleport(motion, views.base_position, views.base_rotation, views.objects, held)
        mujoco.mj_kinematics(world.model, data)
        set_motion(motion, views.commanded, views.pace)
        self.state.base_blocked[i] = True

    def _step_apartment(self, i: int, world: ApartmentModel, data: mujoco.MjData) -> None:
        """A substep of everything."""
        self._view(i).load_awake = True
        apart = self._grip.passes(i)
        if apart == NOTHING:
            mujoco.mj_step(world.model, data)
            return
        # Worlds share the model.
        geoms = world.object_geoms[apart]
        types, meets = world.model.geom_contype[geoms], world.model.geom_conaffinity[geoms]
        before = types.copy(), meets.copy()
        types[:], meets[:] = 0, meets & ~ROBOT_BIT
        try:
            mujoco.mj_step(world.model, data)
        finally:
            types[:], meets[:] = before

    # --- reading ---------------------------------------------------------------------------------------

    def _read(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews, touching: bool,
        scene_force: bool,
    ) -> bool:  # fmt: skip
        """Copy what tasks may know from MjData into the state.

        Args:
            i: World.
            world: Its apartment.
            data: Its physics.
            views: Of the data.
            touching: Whether there may be contacts.
            scene_force: Whether forces between other things count as the robot's.

        Returns:
            Whether an object that is held is farther from the tip than `hold_threshold`.
        """
        state = self.state
        slipped = read_world(
            state.worlds, i, self.config.hold_threshold, views.arm_joints, views.arm_velocities,
            views.hand_position, views.hand_rotation, views.object_position, views.object_rotation,
            views.qpos, world.joint_qpos, views.geom_position, world.handle_geoms,
            self._robot.tip_offset,
        )  # fmt: skip
        if touching and data.ncon:
            state.touched_object[i], state.touched_handle[i], state.contact_force[i] = self._scan(
                i, world, data
            )
            if scene_force:
                contact = data.contact
                state.contact_force[i] = largest_force(
                    data.ncon, contact.efc_address, data.efc_force
                )
        return slipped

    def _scan(self, i: int, world: ApartmentModel, data: mujoco.MjData) -> tuple[int, int, float]:
        """Touched object, touched handle and force [N]; see `scan_contacts`."""
        contact = data.contact
        return scan_contacts(
            data.ncon,
            contact.geom,
            contact.dist,
            contact.efc_address,
            data.efc_force,
            world.roles,
            int(self.state.held_object[i]),
            int(self.state.held_handle[i]),
        )
