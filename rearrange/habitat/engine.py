"""One world of habitat-sim with physics, in a process of its own: loaded by `engine_server.py`.

It imports nothing of ours, which keeps its process small, and knows Habitat's frames only: positions, and
quaternions xyzw, in a world whose y axis is up.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

HELD_GROUP = "UserGroup1"  # what the robot holds does not meet the robot
FAR = 30.0  # [m], farther than anything in an apartment
TOUCH = 0.0005  # [m], a contact farther apart than this is none
POSITION_GAIN = 0.3  # share of the way to its target that a joint goes in a substep, if it can
NOTHING = -1
# Within so much of where it is shut a door or drawer keeps so much of its opening speed in a substep: a seal, a
# damper, and MuJoCo's soft stop take it up [rad or m]
STOP_WIDTH, STOP_SHARE = 0.02, 0.5


class Handle(NamedTuple):
    """A handle of a drawer or door.

    Attributes:
        piece: The articulated object.
        joint: Link that its joint moves.
        link: Link that is touched.
        node: Of that link.
        offset: Of the handle in that link's frame, m.
        reach: The cup takes it where it touches the link no farther away than this [m].
    """

    piece: Any
    joint: int
    link: int
    node: Any
    offset: Any
    reach: float = float("inf")

    @property
    def place(self) -> Any:
        """Where it is in the engine's world, m."""
        return self.node.transformation.transform_point(self.offset)

    @property
    def row(self) -> int:
        """Of its joint among those of the piece."""
        return self.piece.get_link_joint_pos_offset(self.joint)


class Engine:
    """A physics world with one robot, and its head camera."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Start the engine.

        Args:
            settings: `physics`: file with time step and gravity; `time_step` [s]; `field_of_view` [deg];
                `device`: GPU, -1 for software; `friction` of all that is not an object; `near` [m].
        """
        import habitat_sim  # pyright: ignore[reportMissingImports]
        import magnum  # pyright: ignore[reportMissingImports]

        self.hsim, self.mn = habitat_sim, magnum
        self.settings = settings
        self.sim: Any = None
        self.worlds = 0
        # Kinds and sizes of pictures; of a kind that is not there at first none can be added later
        self.sensors = [("depth", 1), ("rgb", 1)]
        groups, helper = self._groups()
        helper.set_group_interacts_with(groups.UserGroup0, groups.Static, False)
        helper.set_group_interacts_with(groups.UserGroup0, groups.UserGroup0, False)
        helper.set_group_interacts_with(groups.UserGroup1, groups.Robot, False)

    def _groups(self) -> tuple[Any, Any]:
        physics = self.hsim.physics
        return physics.CollisionGroups, physics.CollisionGroupHelper

    # --- loading ------------------------------------------------------------------------------------

    def reset(self, scene: dict[str, Any]) -> bytes:
        """Load an apartment with everything in it, all at rest; returns what `read` does.

        A new world for every episode: Bullet's order of contacts depends on what was there before, and
        with it the last bits of the result.
        """
        self._open(scene["files"])
        if scene["files"] is None:
            self._load_apartment(scene)
        self.handles: list[Handle] = []
        self._load_furniture(scene["furniture"])
        self._find_handles(scene["handles"])
        self._load_robot(scene["robot"], scene["robot_pose"], scene["arm"])
        self._load_objects(scene["objects"])
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

    def _open(self, files: dict[str, Any] | None) -> None:
        """Begin a world, empty or with a scene of a dataset: the renderer and what was read of files stay."""
        hsim = self.hsim
        self._clear()
        backend = hsim.SimulatorConfiguration()
        backend.scene_id = "NONE" if files is None else files["scene"]
        backend.scene_dataset_config_file = "default" if files is None else files["dataset"]
        backend.enable_physics = True
        backend.physics_config_file = self.settings["physics"]
        backend.gpu_device_id = self.settings["device"]
        # Nothing is drawn with it here, but only new settings make a new world.
        backend.random_seed = self.worlds
        self.worlds += 1
        agent = hsim.agent.AgentConfiguration()
        agent.sensor_specifications = [self._sensor(*sensor) for sensor in self.sensors]
        configuration = hsim.Configuration(backend, [agent])
        if self.sim is None:
            self.sim = hsim.Simulator(configuration)
        else:
            self.sim.reconfigure(configuration)
        self.pieces, self.floor_height = [], 0.0
        if files is not None:
            self.floor_height = files["height"]
            self._set_joints(files["joints"])

    def _set_joints(self, joints: dict[str, dict[int, float]]) -> None:
        """Open what is articulated in a scene as far as its episode says."""
        for name, values in joints.items():
            piece = self._furniture(name)
            positions = list(piece.joint_positions)
            for link, value in values.items():
                positions[piece.get_link_joint_pos_offset(link)] = value
            piece.joint_positions = positions
        manager = self.sim.get_articulated_object_manager()
        self.pieces = list(manager.get_objects_by_handle_substring("").values())

    def _furniture(self, name: str) -> Any:
        manager = self.sim.get_articulated_object_manager()
        piece = manager.get_object_by_handle(name)
        if piece is None:
            there = ", ".join(manager.get_object_handles())
            raise RuntimeError(f"the scene has no {name}, only {there}")
        return piece

    def _clear(self) -> None:
        """Remove everything, so that the world before this one frees what it drew."""
        if self.sim is None:
            return
        self.release()
        self.sim.get_articulated_object_manager().remove_all_objects()
        self.sim.get_rigid_object_manager().remove_all_objects()

    def _sensor(self, kind: str, size: int) -> Any:
        spec = self.hsim.CameraSensorSpec()
        spec.uuid = f"{kind}_{size}"
        kinds = self.hsim.SensorType
        spec.sensor_type = kinds.COLOR if kind == "rgb" else kinds.DEPTH
        spec.resolution = [size, size]
        spec.position = [0.0, 0.0, 0.0]
        spec.hfov = self.settings["field_of_view"]
        spec.near, spec.far = self.settings["near"], FAR
        return spec

    def _pose(self, position: Any, rotation: Any) -> Any:
        """Transformation of a place in the world, whose floor is at 0: position [3] and quaternion xyzw [4]."""
        x, y, z = position
        return self._relative((x, y + self.floor_height, z), rotation)

    def _relative(self, position: Any, rotation: Any) -> Any:
        """Transformation of a position [3] and a quaternion xyzw [4]."""
        mn = self.mn
        x, y, z, w = (float(value) for value in rotation)
        turn = mn.Quaternion(mn.Vector3(x, y, z), w)
        return mn.Matrix4.from_(turn.to_matrix(), mn.Vector3(*(float(p) for p in position)))

    def _below(self, thing: Any, gap: float) -> Any:
        """Pose in the hand's frame of a thing held from above, by the middle of its top as it stands.

        Args:
            thing: The object.
            gap: Between cup and top [m].
        """
        box = thing.root_scene_node.cumulative_bb
        middle, half = np.array(box.center()), 0.5 * np.array(box.size())
        up = np.array(thing.rotation.inverted().transform_vector(self.mn.Vector3.y_axis()))
        # The hand's x axis points out of it: the top looks against it
        side = np.eye(3)[np.abs(up).argmin()]
        side -= up * (side @ up)
        side /= np.linalg.norm(side)
        turn = np.stack([-up, side, np.cross(-up, side)])
        top = up @ middle + np.abs(up) @ half
        x, y, z = (top + gap, *-(turn[1:] @ middle))
        columns = [self.mn.Vector3(*column) for column in turn.T]
        return self.mn.Matrix4.from_(self.mn.Matrix3(*columns), self.mn.Vector3(x, y, z))

    def _template(self, name: str, visual: str, collision: str, friction: float) -> Any:
        template = self.hsim.attributes.ObjectAttributes()
        template.render_asset_handle = visual
        template.collision_asset_handle = collision
        template.join_collision_meshes = False
        template.margin = 0.0
        template.friction_coefficient = friction
        template.restitution_coefficient = 0.0
        template.force_flat_shading = True
        template.compute_COM_from_shape = False
        template.com = self.mn.Vector3(0.0)
        return template

    def _template_of(self, file: str) -> Any:
        manager = self.sim.get_object_template_manager()
        numbers = manager.load_configs(file)
        if not numbers:
            raise RuntimeError(f"the engine could not read {file}")
        return manager.get_template_by_id(numbers[0])

    def _add(self, name: str, template: Any, pose: Any) -> Any:
        self.sim.get_object_template_manager().register_template(template, name)
        manager = self.sim.get_rigid_object_manager()
        thing = manager.add_object_by_template_handle(name, light_setup_key="no_lights")
        if thing is None:
            raise RuntimeError(f"the engine could not make {name}")
        thing.transformation = pose
        return thing

    def _load_apartment(self, scene: dict[str, Any]) -> None:
        visual, collision = scene["visual"], scene["collision"]
        template = self._template("apartment", visual, collision, self.settings["friction"])
        thing = self._add("apartment", template, self._pose(*scene["apartment_pose"]))
        thing.motion_type = self.hsim.physics.MotionType.STATIC

    def _load_objects(self, objects: list[dict[str, Any]]) -> None:
        self.objects, self.slots = {}, {}
        self.lengths, self.leaving = {}, NOTHING
        for entry in objects:
            name = f"object_{entry['slot']:02d}"
            if "file" in entry:
                template = self._template_of(entry["file"])
            else:
                template = self._template(
                    name, entry["visual"], entry["collision"], entry["friction"]
                )
                template.rolling_friction_coefficient = entry["rolling_friction"]
                template.mass = entry["mass"]
                template.inertia = self.mn.Vector3(*entry["inertia"])
            thing = self._add(name, template, self._pose(entry["position"], entry["rotation"]))
            self.objects[entry["slot"]] = thing
            box = thing.root_scene_node.cumulative_bb
            self.lengths[entry["slot"]] = entry.get("length", max(box.size()))
            self.slots[thing.object_id] = entry["slot"]
        self.poses = np.array([self._pose_of(thing) for thing in self.objects.values()])

    def _articulated(self, file: str, pose: Any) -> Any:
        thing = self.sim.get_articulated_object_manager().add_articulated_object_from_urdf(
            file,
            fixed_base=True,
            maintain_link_order=True,
            intertia_from_urdf=True,  # spelled so in habitat-sim
            light_setup_key="no_lights",
        )
        if thing is None:
            raise RuntimeError(f"the engine could not load {file}")
        thing.transformation = pose
        for link in range(thing.num_links):
            thing.set_link_friction(link, self.settings["friction"])
        return thing

    def _load_furniture(self, furniture: list[dict[str, Any]]) -> None:
        for entry in furniture:
            piece = self._articulated(entry["file"], self._pose(*entry["pose"]))
            self.pieces.append(piece)
            for joint, value in zip(entry["joints"], entry["values"], strict=True):
                link = piece.get_link_id_from_name(f"handle_{joint}")
                node = piece.get_link_scene_node(link)
                door = piece.get_link_id_from_name(joint)
                self.handles.append(Handle(piece, door, link, node, self.mn.Vector3(0.0)))
                self._open_joint(self.handles[-1], value)

    def _find_handles(self, markers: list[dict[str, Any]]) -> None:
        """Handles of what the scene of a dataset has, anywhere on a link."""
        for marker in markers:
            piece = self._furniture(marker["furniture"])
            link = piece.get_link_id_from_name(marker["link"])
            node, offset = piece.get_link_scene_node(link), self.mn.Vector3(*marker["offset"])
            self.handles.append(Handle(piece, link, link, node, offset, marker["reach"]))
            if marker["value"] is not None:
                self._open_joint(self.handles[-1], marker["value"])
        self.handle_of = {(h.piece.object_id, h.link): k for k, h in enumerate(self.handles)}

    def _open_joint(self, handle: Handle, value: float) -> None:
        values = list(handle.piece.joint_positions)
        values[handle.row] = value
        handle.piece.joint_positions = values

    def _load_robot(self, entry: dict[str, Any], pose: Any, arm: Any) -> None:
        robot = self.robot = self._articulated(entry["file"], self._pose(*pose))
        physics = self.hsim.physics
        for motor in list(robot.existing_joint_motor_ids):
            robot.remove_joint_motor(motor)
        self.cup = robot.get_link_id_from_name(entry["cup"])
        self.cup_node = robot.get_link_scene_node(self.cup)
        links = [robot.get_link_id_from_name(name) for name in entry["joints"]]
        self.arm_rows = [robot.get_link_joint_pos_offset(link) for link in links]
        values = list(robot.joint_positions)
        self.motors = []
        for link, row, value, impulse in zip(
            links, self.arm_rows, arm, entry["impulses"], strict=True
        ):
            values[row] = value
            motor = physics.JointMotorSettings(float(value), POSITION_GAIN, 0.0, 1.0, impulse)
            self.motors.append((robot.create_joint_motor(link, motor), motor))
        robot.joint_positions = values

    # --- stepping -----------------------------------------------------------------------------------

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

    # --- reading ------------------------------------------------------------------------------------

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

    def _pose_of(self, thing: Any) -> list[float]:
        return self._told(thing.translation, thing.rotation)

    def _told(self, position: Any, rotation: Any) -> list[float]:
        x, y, z = position
        return [x, y - self.floor_height, z, *rotation.vector, rotation.scalar]

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

    def render(self, position: Any, rotation: Any, size: int, kind: str = "depth") -> bytes:
        """What is seen from there: depth [size, size] float32, m, 0 where nothing is; or colours [.., 4] uint8.

        Args:
            position: Of the camera [3].
            rotation: Quaternion xyzw [4]; the camera looks along its -z.
            size: Height and width in pixels.
            kind: "depth" or "rgb".
        """
        if (kind, size) not in self.sensors:
            self.sim.add_sensor(self._sensor(kind, size))
            self.sensors.append((kind, size))
        self.sim.agents[0].scene_node.transformation = self._pose(position, rotation)
        sensor = self.sim._sensors[f"{kind}_{size}"]
        sensor.draw_observation()
        return np.ascontiguousarray(sensor.get_observation()).tobytes()

    # --- the floor ----------------------------------------------------------------------------------

    def geodesics(self, starts: Any, goal: Any, radius: float, height: float) -> list[float]:
        """Distances over the engine's own navmesh [N], m; infinite without a way.

        Args:
            starts: Places [N, 3].
            goal: Another [3].
            radius: Of a cylinder that shall get through [m].
            height: Of it [m].
        """
        settings = self.hsim.NavMeshSettings()
        settings.set_defaults()
        settings.agent_radius, settings.agent_height = radius, height
        settings.include_static_objects = True
        finder = self.hsim.PathFinder()
        if not self.sim.recompute_navmesh(finder, settings):
            raise RuntimeError("there is no floor for such a robot")
        path, told = self.hsim.ShortestPath(), []
        up = np.array((0.0, self.floor_height, 0.0))
        path.requested_end = finder.snap_point(goal + up)
        for start in starts:
            path.requested_start = finder.snap_point(start + up)
            told.append(float(path.geodesic_distance) if finder.find_path(path) else float("inf"))
        return told

    def versions(self) -> str:
        """Of habitat-sim."""
        return str(self.hsim.__version__)

    def abort(self) -> None:
        """Die as the engine does on a mistake: for tests."""
        os.abort()

    def close(self) -> None:
        """Free the world."""
        if self.sim is not None:
            self.sim.close(destroy=True)
            self.sim = None
