"""Domain randomisation: what differs from the nominal world in each episode, drawn from its seed.

Everything is off by default. An episode draws the same values in every process and world, and each kind has
its own stream of random numbers, so that switching one on leaves the others as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from rearrange.render.camera import FAR
from rearrange.robot import HeadCamera
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import ObjectKind
from rearrange.scenes.spec import SceneSpec
from rearrange.settings import check_ranges, setting

# Streams of random numbers of an episode; the order is part of what a seed means.
_OBJECTS, _FRICTION, _MASS, _CAMERA, _DEPTH, _SIGHT = range(6)
_STREAM = 20_231  # keeps these streams apart from others that start from an episode's seed
_SIGHT_RANGE = (1.2, 4.0)  # where a short sight ends [m]; cameras of structured light see 3.5 m


@dataclass
class Randomisation:
    """How far episodes differ from the nominal world; 0 is off. At most, where given, in brackets."""

    object_shift: float = setting(
        0.0,
        hab=0.0,
        high=0.05,
        about=(
            "at most 0.05: objects stand up to this far off along x and y [m]. What an "
            "episode tells of its targets stays nominal, as from a noisy detector"
        ),
    )
    object_turn: float = setting(
        0.0,
        hab=0.0,
        high=math.pi,
        about="at most pi: objects are turned by up to this about the vertical [rad]",
    )
    friction: float = setting(
        0.0,
        hab=0.0,
        high=0.9,
        about="at most 0.9: sliding friction of all that touches is up to this share off",
    )
    mass: float = setting(
        0.0, hab=0.0, high=0.9, about="at most 0.9: the mass of each object is up to this share off"
    )
    camera_shift: float = setting(
        0.0,
        hab=0.0,
        high=0.1,
        about="at most 0.1: the head camera sits up to this far off along each axis [m]",
    )
    camera_turn: float = setting(
        0.0,
        hab=0.0,
        high=0.3,
        about="at most 0.3: the camera is turned by up to this about each of its axes [rad]",
    )
    depth_noise: float = setting(
        0.0,
        hab=0.0,
        high=0.1,
        about=(
            "at most 0.1: standard deviation of depth at 1 m, growing with its square [m]. "
            "A structured-light camera has 0.003 (Khoshelham and Elberink, Sensors 2012)"
        ),
    )
    short_sight: float = setting(
        0.0,
        hab=0.0,
        high=1.0,
        about=(
            "at most 1: share of episodes in which nothing is seen beyond 1.2 to 4 m. What "
            "stands behind then does not tell where a thing at hand is"
        ),
    )

    def check(self) -> None:
        """Raise a UserError where a value makes no sense."""
        check_ranges(self, "randomise")

    def draw(self, seed: int, scene: SceneSpec = APARTMENT) -> Drawn | None:
        """What an episode with this seed gets in a home of this kind; None where everything is off."""
        if self == Randomisation():
            return None
        slots = len(scene.objects)
        shift = _stream(seed, _OBJECTS).uniform(-1.0, 1.0, (slots, 3))
        camera = _stream(seed, _CAMERA).uniform(-1.0, 1.0, (2, 3))
        sight = _stream(seed, _SIGHT)
        short = sight.random() < self.short_sight
        return Drawn(
            seed=seed,
            scene=scene,
            object_motion=shift * (self.object_shift, self.object_shift, self.object_turn),
            friction=1.0 + self.friction * float(_stream(seed, _FRICTION).uniform(-1.0, 1.0)),
            masses=1.0 + self.mass * _stream(seed, _MASS).uniform(-1.0, 1.0, slots),
            camera_shift=self.camera_shift * camera[0],
            camera_turn=self.camera_turn * camera[1],
            depth_noise=self.depth_noise,
            sight=float(sight.uniform(*_SIGHT_RANGE)) if short else FAR,
        )


@dataclass(frozen=True)
class Drawn:
    """What one episode drew.

    Attributes:
        seed: Of the episode.
        scene: Kind of its home, with O object slots.
        object_motion: Motion along x and y [m] and turn about the vertical [rad] of each slot [O, 3].
        friction: Factor of all sliding friction.
        masses: Factor of each object's mass [O].
        camera_shift: Of the head camera along the axes of the base [3], m.
        camera_turn: Rotation vector of the head camera in its own frame [3], rad.
        depth_noise: See Randomisation.
        sight: How far the head camera sees [m].
    """

    seed: int
    scene: SceneSpec
    object_motion: np.ndarray
    friction: float
    masses: np.ndarray
    camera_shift: np.ndarray
    camera_turn: np.ndarray
    depth_noise: float
    sight: float

    @property
    def changes_depth(self) -> bool:
        """Whether depth images have to be changed."""
        return self.depth_noise > 0.0 or self.sight < FAR

    @property
    def changes_model(self) -> bool:
        """Whether the compiled model has to be changed."""
        return self.friction != 1.0 or bool((self.masses != 1.0).any())

    def moved(self, objects: Mapping[int, Sequence[float]]) -> dict[int, np.ndarray]:
        """Poses of objects, shifted and turned; one that would run into another stays where it was.

        Args:
            objects: Slot -> pose (x, y, z, qw, qx, qy, qz).
        """
        poses = {slot: np.array(pose) for slot, pose in objects.items()}
        kinds = self.scene.objects
        for slot, pose in poses.items():
            nominal = pose.copy()
            self._move(slot, pose)
            if any(_collide(kinds[slot], pose, kinds[k], p) for k, p in poses.items() if k != slot):
                pose[:] = nominal
        return poses

    def _move(self, slot: int, pose: np.ndarray) -> None:
        dx, dy, turn = self.object_motion[slot].tolist()
        pose[:2] += dx, dy
        if turn:
            nominal, about = pose[3:].copy(), (math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2))
            mujoco.mju_mulQuat(pose[3:], np.array(about), nominal)

    def change_model(self, model: mujoco.MjModel, first_object_body: int) -> None:
        """Write friction and masses into a nominal model that no other world uses.

        Friction gets one factor, since MuJoCo takes the larger of two geoms' in a contact. What MuJoCo
        derives from mass is scaled along, which is exact for bodies that float freely.
        """
        model.geom_friction[:, 0] *= self.friction
        slots = len(self.scene.objects)
        bodies = slice(first_object_body, first_object_body + slots)
        first = int(model.body_dofadr[first_object_body])
        joints = slice(first, first + 6 * slots)
        of_joints = np.repeat(self.masses, 6)
        model.body_subtreemass[0] += float((self.masses - 1.0) @ model.body_mass[bodies])
        model.body_mass[bodies] *= self.masses
        model.body_subtreemass[bodies] *= self.masses
        model.body_inertia[bodies] *= self.masses[:, None]
        model.body_invweight0[bodies] /= self.masses[:, None]
        model.dof_M0[joints] *= of_joints
        model.dof_invweight0[joints] /= of_joints

    def mount(
        self, camera: HeadCamera, rotation: np.ndarray
    ) -> tuple[tuple[float, float, float], np.ndarray]:
        """Place of the head camera in the base frame [m], and base from camera [3, 3].

        Args:
            camera: The nominal one.
            rotation: The nominal base from camera [3, 3].
        """
        x, y, z = (np.array(camera.position) + self.camera_shift).tolist()
        angle = float(np.linalg.norm(self.camera_turn))
        if angle == 0.0:
            return (x, y, z), rotation
        quaternion, matrix = np.empty(4), np.empty(9)
        mujoco.mju_axisAngle2Quat(quaternion, self.camera_turn / angle, angle)
        mujoco.mju_quat2Mat(matrix, quaternion)
        return (x, y, z), np.ascontiguousarray(rotation @ matrix.reshape(3, 3))

    def disturb_depth(self, depth: np.ndarray, step: int) -> None:
        """Add noise to a depth image [H, W] (m) in place, the same for the same step, and end its sight.

        What is at FAR was not seen and stays there; what is nearer stays within 0 and FAR.
        """
        depth[depth > self.sight] = FAR
        if not self.depth_noise:
            return
        noise = _stream(self.seed, _DEPTH, step).standard_normal(depth.shape, np.float32)
        noise *= np.float32(self.depth_noise)
        noise *= depth
        noise *= depth
        noise[depth >= FAR] = 0.0
        depth += noise
        np.clip(depth, 0.0, FAR, out=depth)


def _stream(seed: int, kind: int, step: int = 0) -> np.random.Generator:
    """Random numbers of one kind in one episode."""
    return np.random.default_rng([_STREAM, seed, kind, step])


def _collide(one: ObjectKind, pose: np.ndarray, two: ObjectKind, other: np.ndarray) -> bool:
    """Whether the cylinders about two upright objects overlap."""
    apart = math.hypot(pose[0] - other[0], pose[1] - other[1])
    level = abs(pose[2] - other[2]) < one.half_height + two.half_height
    return level and apart < one.footprint_radius + two.footprint_radius
