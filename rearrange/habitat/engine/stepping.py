"""An engine's steps: the robot moves, takes and lets go, and what came of it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from .contents import NOTHING, FilledWorld

HELD_GROUP = "UserGroup1"  # what the robot holds does not meet the robot
TOUCH = 0.0005  # [m], a contact farther apart than this is none
# Within so much of where it is shut a door or drawer keeps so much of its opening speed in a substep: a seal, a
# damper, and MuJoCo's soft stop take it up [rad or m]
STOP_WIDTH, STOP_SHARE = 0.02, 0.5


class Engine(FilledWorld):
    """A physics world with one robot, and its head camera."""

    constraint: Any = None  # until the first reset is over
    held_object = held_handle = NOTHING

    def reset(self, scene: dict[str, Any]) -> bytes:
        """Load an apartment with everything in it, all at rest; returns what `read` does.

        A new world for every episode: Bullet's order of contacts depends on what was there before, and
        with it the last bits of the result.
        """
        self._clear()
        self._fill(scene)
        self.constraint, self.held_object, self.held_handle = None, NOTHING, NOTHING
        if scene["held"] is not None:
            slot, pose = scene["held"]["slot"], scene["held"]["pose"]
            thing, tip = self.objects[slot], self.cup_node.transformation
            held = (
                self._below(thing, scene["held"]["gap"]) if pose is None else self._relative(*pose)
            )
            thing.transformation = tip @ held
            self.take_object(slot)
        for slot, thing in self.objects.items():
            if slot != self.held_object:
                thing.awake = False
        for piece in self.pieces:
            piece.awake = False
        self.sim.step_world(self.settings["time_step"])
        return self.read()

    def _clear(self) -> None:
        """Remove everything, so that the world before this one frees what it drew."""
        if self.sim is None:
            return
        self.release()
        self.sim.get_articulated_object_manager().remove_all_objects()
        self.sim.get_rigid_object_manager().remove_all_objects()

    def step(self, targets: Any, base: Any, grip: tuple[str, int]) -> bytes:
        """Advance by as many substeps as there are base poses; returns what `read` does.

        Args:
            targets: Of the arm's joints [7], rad.
            base: Where the robot stands in each substep, position and quaternion [S, 7].
            grip: ("keep", -1), ("release", -1), ("object", slot) or ("handle", its number).
        """
        for (motor, settings), target in zip(self.motors, targets, strict=True):
            settings.position_target = float(target)
            self.robot.update_joint_motor(motor, settings)
        what, which = grip
        if what == "release":
            self.release()
        elif what == "object":
            self.take_object(which)
        elif what == "handle":
            self.take_handle(which)
        if self.leaving != NOTHING:
            # What was let go meets the robot again once it is farther from the hand than it is long, as in HAB
            away = self.objects[self.leaving].translation - self.cup_node.translation
            if away.length() > self.lengths[self.leaving]:
                self._meet_again(self.leaving)
        self.robot.awake = True
        before = self.robot.transformation
        for pose in base:
            now = self._pose(pose[:3], pose[3:])
            if now != before:
                self.robot.transformation = now
                if self.held_object != NOTHING:  # it moves rigidly with the base, as in HAB
                    thing = self.objects[self.held_object]
                    thing.transformation = now @ before.inverted_rigid() @ self._pose_now(thing)
                before = now
            self.sim.step_world(self.settings["time_step"])
            self._soften_stops()
        return self.read()

    def _soften_stops(self) -> None:
        """Take up what moves a door or drawer away from where it is shut: Bullet lets it spring open again."""
        for piece in self.pieces:
            if not piece.awake:
                continue
            positions, velocities = piece.joint_positions, piece.joint_velocities
            # What opens the other way has its stop at the other end
            shut = [
                v > 0.0 and -STOP_WIDTH < q < STOP_WIDTH
                for q, v in zip(positions, velocities, strict=True)
            ]
            if any(shut) and self.held_handle == NOTHING:
                piece.joint_velocities = [
                    STOP_SHARE * v if at_stop else v
                    for v, at_stop in zip(velocities, shut, strict=True)
                ]

    def _hold(self, settings: Any) -> None:
        settings.object_id_a = self.robot.object_id
        settings.link_id_a = self.cup
        settings.max_impulse = 10_000.0  # as habitat-lab: it is the slip that breaks a grasp
        self.constraint = self.sim.create_rigid_constraint(settings)

    def take_object(self, slot: int) -> None:
        """Fix an object to the cup where it is."""
        thing, tip = self.objects[slot], self.cup_node.transformation
        relative = tip.inverted_rigid() @ thing.transformation
        settings = self.hsim.physics.RigidConstraintSettings()
        settings.constraint_type = self.hsim.physics.RigidConstraintType.Fixed
        settings.object_id_b = thing.object_id
        settings.pivot_a, settings.pivot_b = relative.translation, self.mn.Vector3(0.0)
        settings.frame_a = relative.rotation()
        settings.frame_b = self.mn.Matrix3.identity_init()
        if self.leaving != NOTHING:
            self._meet_again(self.leaving)
        groups, _ = self._groups()
        thing.override_collision_group(getattr(groups, HELD_GROUP))
        self._hold(settings)
        self.held_object = slot

    def take_handle(self, number: int) -> None:
        """Join the cup and a handle by a ball joint at the tip."""
        handle, tip = self.handles[number], self.cup_node.transformation
        settings = self.hsim.physics.RigidConstraintSettings()
        settings.constraint_type = self.hsim.physics.RigidConstraintType.PointToPoint
        settings.object_id_b, settings.link_id_b = handle.piece.object_id, handle.link
        settings.pivot_a = self.mn.Vector3(0.0)
        into = handle.node.transformation.inverted_rigid()
        settings.pivot_b = into.transform_point(tip.translation)
        handle.piece.awake = True
        self._hold(settings)
        self.held_handle = number

    def release(self) -> None:
        """Let go of what is held, if anything is."""
        if self.constraint is None:
            return
        self.sim.remove_rigid_constraint(self.constraint)
        if self.held_object != NOTHING:
            self.leaving = self.held_object
            self.objects[self.leaving].awake = True
        self.constraint, self.held_object, self.held_handle = None, NOTHING, NOTHING

    def _meet_again(self, slot: int) -> None:
        groups, _ = self._groups()
        self.objects[slot].override_collision_group(groups.Dynamic)
        self.leaving = NOTHING

    def _pose_now(self, thing: Any) -> Any:
        """Transformation of a moving object.

        Bullet tells where it was a substep ago; who writes that back undoes every substep.
        """
        mn, dt = self.mn, self.settings["time_step"]
        pose, spin = thing.transformation, thing.angular_velocity * dt
        turn = mn.Matrix3(pose.rotation())
        if spin.length() > 1e-9:
            turned = mn.Quaternion.rotation(mn.Rad(spin.length()), spin.normalized())
            turn = turned.to_matrix() @ turn
        return mn.Matrix4.from_(turn, pose.translation + thing.linear_velocity * dt)

    def read(self) -> bytes:
        """What there is to know after a step, as float64.

        Arm joints [7], their velocities [7], tip [7], joints of the handles [K], handles [K, 3], touched
        object, touched handle, force [N], and poses of the objects in the order of their loading [O, 7].
        """
        joints, velocities = self.robot.joint_positions, self.robot.joint_velocities
        told = [joints[row] for row in self.arm_rows] + [velocities[row] for row in self.arm_rows]
        told += self._pose_of(self.cup_node)
        told += [handle.piece.joint_positions[handle.row] for handle in self.handles]
        for handle in self.handles:
            x, y, z = handle.place
            told += [x, y - self.floor_height, z]
        told += self._contacts()
        for k, thing in enumerate(self.objects.values()):
            if thing.awake:
                pose = self._pose_now(thing)
                turn = self.mn.Quaternion.from_matrix(pose.rotation())
                self.poses[k] = self._told(pose.translation, turn)
        return np.concatenate([told, self.poses.ravel()]).tobytes()

    def _contacts(self) -> tuple[float, float, float]:
        """Touched object, touched handle and largest force on the robot or its load [N]."""
        touched_object, touched_handle, force = NOTHING, NOTHING, 0.0
        deepest_object = deepest_handle = TOUCH
        robot = self.robot.object_id
        held = None if self.held_object == NOTHING else self.objects[self.held_object].object_id
        for point in self.sim.get_physics_contact_points():
            first, second = point.object_id_a, point.object_id_b
            link, other = point.link_id_a, point.link_id_b
            if second == robot or (second == held and first != robot):
                first, second, link, other = second, first, other, link
            if (first != robot and first != held) or second in (robot, held):
                continue
            handle = self.handle_of.get((second, other), NOTHING)
            if first == robot and link == self.cup:
                distance = point.contact_distance
                slot = self.slots.get(second, NOTHING)
                if slot != NOTHING and distance < deepest_object:
                    deepest_object, touched_object = distance, slot
                if handle != NOTHING and distance < deepest_handle and self._in_reach(handle):
                    deepest_handle, touched_handle = distance, handle
            if handle == NOTHING or handle != self.held_handle:
                force = max(force, point.normal_force)
        return touched_object, touched_handle, force

    def _in_reach(self, number: int) -> bool:
        handle = self.handles[number]
        return (handle.place - self.cup_node.translation).length() < handle.reach
