"""Orders to an engine: its settings, an episode to load, a motion of the base."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from rearrange.episodes.episode import Episode, spec_of
from rearrange.habitat.frames import (
    heading,
    to_habitat_pose,
    to_habitat_position,
    to_habitat_rotation,
)
from rearrange.habitat.process import render_device
from rearrange.habitat.scene import SURFACE_FRICTION, physics_settings, robot_file, scene_assets
from rearrange.render.camera import NEAR
from rearrange.robot.fetch import EFFORT_LIMITS, FETCH
from rearrange.sim.base import PHYSICS_STEP
from rearrange.sim.kernels import SUBSTEP_COUNT
from rearrange.sim.suction import SUCTION_GAP, top_grasp

# Nearer than this to a handle the cup takes it where it touches its link [m]; from farther away the grasp would
# break at once, as it does in habitat-lab
HANDLE_REACH = 0.15


def engine_settings() -> dict[str, Any]:
    """What `engine.Engine` takes."""
    return {
        "physics": physics_settings(),
        "time_step": PHYSICS_STEP,
        "field_of_view": FETCH.camera.field_of_view,
        "near": NEAR,
        "device": render_device(),
        "friction": SURFACE_FRICTION,
    }


def engine_scene(episode: Episode) -> dict[str, Any]:
    """An episode as `engine.Engine.reset` takes it, in Habitat's world."""
    place = _place_in_dataset(episode) if episode.scene else _our_place(episode)
    held, grasp = None, episode.grasp
    if episode.held_slot is not None:
        if grasp is None and episode.scene is None:
            grasp = top_grasp(spec_of(episode).objects[episode.held_slot])
        # In the hand's own frame, which is turned with the world: only the order changes.
        pose = None if grasp is None else (np.array(grasp[:3]), np.roll(grasp[3:], -1))
        held = {"slot": episode.held_slot, "pose": pose, "gap": SUCTION_GAP}
    x, y, yaw = episode.base_pose
    return place | {
        "held": held,
        "arm": episode.arm_joints,
        "robot_pose": to_habitat_pose((x, y, 0.0), heading(yaw)),
        "robot": {
            "file": robot_file(),
            "cup": FETCH.suction_geom,
            "joints": [f"fetch_{name}" for name in FETCH.joint_names],
            "impulses": [effort * PHYSICS_STEP for effort in EFFORT_LIMITS],
        },
    }


def handles_of(episode: Episode) -> list[int]:
    """Places in `SceneSpec.joints` of those of whose handles the engine tells, in its order."""
    joints = spec_of(episode).joints
    there = joints if episode.scene is None else episode.scene.handles
    return [k for k, joint in enumerate(joints) if joint in there]


def _place_in_dataset(episode: Episode) -> dict[str, Any]:
    """Scene and objects of an episode in a scene of a dataset."""
    scene = episode.scene
    assert scene is not None
    objects = []
    for slot, pose in sorted(episode.objects.items()):
        position, rotation = to_habitat_pose(pose[:3], pose[3:])
        entry = {"slot": slot, "file": scene.objects[slot]}
        objects.append(entry | {"position": position, "rotation": rotation})
    files = {name: getattr(scene, name) for name in ("scene", "dataset", "joints", "height")}
    handles = []
    for k in handles_of(episode):
        joint = spec_of(episode).joints[k]
        place = scene.handles[joint]
        value = episode.articulated.get(joint)
        handles.append(asdict(place) | {"value": value, "reach": HANDLE_REACH})
    return {"files": files, "furniture": [], "handles": handles, "objects": objects}


def _our_place(episode: Episode) -> dict[str, Any]:
    """Apartment, furniture and objects of an episode in an apartment of ours."""
    assets = scene_assets(episode.layout, episode.variation)
    furniture = [
        {
            "file": piece.file,
            "pose": to_habitat_pose(piece.position, piece.rotation),
            "joints": piece.joints,
            "values": [episode.articulated.get(joint, 0.0) for joint in piece.joints],
        }
        for piece in assets.furniture
    ]
    objects = []
    for slot, pose in sorted(episode.objects.items()):
        position, rotation = to_habitat_pose(pose[:3], pose[3:])
        entry = vars(assets.objects[slot]) | {"position": position, "rotation": rotation}
        length = spec_of(episode).objects[slot].longest_side
        objects.append(entry | {"slot": slot, "length": length})
    return {
        "files": None,
        "visual": assets.visual,
        "collision": assets.collision,
        "apartment_pose": to_habitat_pose(np.zeros(3), heading(0.0)),
        "furniture": furniture,
        "handles": [],
        "objects": objects,
    }


def base_poses(motion: np.ndarray) -> np.ndarray:
    """Where the robot stands in each substep [S, 7], Habitat's world.

    Args:
        motion: x, y, yaw, and how they change per substep [6], see `kernels.begin_step`.
    """
    part = np.arange(1, SUBSTEP_COUNT + 1)[:, None]
    x, y, yaw = (motion[:3] + part * motion[3:]).T
    zero = np.zeros(SUBSTEP_COUNT)
    rotation = np.stack([np.cos(yaw / 2), zero, zero, np.sin(yaw / 2)], axis=1)
    position = to_habitat_position(np.stack([x, y, zero], axis=1))
    return np.concatenate([position, to_habitat_rotation(rotation)], axis=1)
