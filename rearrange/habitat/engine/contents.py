"""Contents of an engine's world: the apartment, furniture that opens, objects and the robot."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .world import World

NOTHING = -1
POSITION_GAIN = 0.3  # share of the way to its target that a joint goes in a substep, if it can


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


class FilledWorld(World):
    """A world and what is loaded into it: nothing moves yet."""

    def _fill(self, scene: dict[str, Any]) -> None:
        """Begin a world with an apartment, empty or of a dataset, and load all that is in it."""
        files = scene["files"]
        self._open(files)
        self.pieces: list[Any] = []
        self.handles: list[Handle] = []
        if files is None:
            self._load_apartment(scene)
        else:
            self._set_joints(files["joints"])
        self._load_furniture(scene["furniture"])
        self._find_handles(scene["handles"])
        self._load_robot(scene["robot"], scene["robot_pose"], scene["arm"])
        self._load_objects(scene["objects"])

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
