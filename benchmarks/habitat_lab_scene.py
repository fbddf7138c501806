"""A scene, a robot and episodes for habitat-lab's own tasks, without any download.

One of our apartments and the Fetch, written as habitat-lab loads ReplicaCAD and hab_fetch. It serves the
benchmark and the tests; who has the real data sets does not need it.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from rearrange.episodes import Episode
from rearrange.habitat.dataset import JOINT_OF_MARKER
from rearrange.habitat.frames import rotation_matrix, to_habitat_position, to_habitat_rotation
from rearrange.habitat.scene import (
    FURNITURE,
    FurnitureAsset,
    SceneAssets,
    furniture_asset,
    glb,
    robot_links,
    scene_assets,
    scene_meshes,
)
from rearrange.habitat.urdf import Link, urdf
from rearrange.robot.fetch import FETCH, TORSO_OFFSET
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import OBJECT_KINDS
from rearrange.sim.apartment_model import load_apartment

HEAD = (0.053125, 0.0, 0.603)  # pan joint in the torso's frame [m], and the tilt joint after it
TILT = (0.14253, 0.0, 0.057999)
WHEEL = (0.0012914, 0.18738, 0.055325)  # [m], the left one


def fetch_for_habitat_lab(model: mujoco.MjModel) -> list[Link]:
    """The Fetch with the link numbers that FetchSuctionRobot counts on.

    Wheels are 2 and 4, torso 6, head 8 and 9, arm 15 to 21, gripper 22, suction cup 23; what lies between is
    empty. The root is y up.
    """
    ours = {link.name: link for link in robot_links(model)}
    arm = [ours[f"fetch_{name}"] for name in FETCH.joint_names]
    torso = replace(
        ours["fetch_torso"],
        joint="prismatic",
        offset=TORSO_OFFSET,
        limits=(0.0, 0.38615),
    )
    right = (WHEEL[0], -WHEEL[1], WHEEL[2])
    across = (0.0, 1.0, 0.0)
    base, trunk = "fetch_base", "fetch_torso"
    return [
        Link("base_link"),
        replace(ours[base], parent="base_link", turn=(-np.pi / 2, 0.0, 0.0)),
        Link("estop_link", base),
        Link("r_wheel_link", base, "continuous", right, axis=across, mass=4.0),
        Link("laser_link", base),
        Link("l_wheel_link", base, "continuous", WHEEL, axis=across, mass=4.0),
        Link("torso_fixed_link", base),
        torso,
        Link("bellows_link2", trunk),
        Link("head_pan_link", trunk, "revolute", HEAD, limits=(-1.57, 1.57), mass=2.0),
        Link(
            "head_tilt_link", "head_pan_link", "revolute", TILT, axis=across, limits=(-0.76, 1.45)
        ),
        *(Link(f"head_camera_{k}", "head_tilt_link") for k in range(5)),
        *(replace(link, parent=trunk) if link is arm[0] else link for link in arm),
        ours["fetch_gripper"],
        # It counts on a motor there, and on the cup not moving.
        replace(ours["fetch_suction"], joint="prismatic", limits=(0.0, 0.0)),
        Link("gripper_empty", "fetch_gripper"),
    ]


def compose(folder: Path, episodes: list[Episode]) -> list[str]:
    """Write the scene of these episodes, which share an apartment, into a folder.

    Returns:
        Overrides of a habitat-lab config with which its tasks use it.
    """
    first = episodes[0]
    assets = scene_assets(first.layout, first.variation)
    model = load_apartment(first.layout, first.variation, FETCH).model
    for name in ("stages", "objects", "scenes", "robot"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    seen, _, solid = scene_meshes(first.layout, first.variation)
    for name, meshes in (("visual", seen), ("collision", solid)):
        upright = [(to_habitat_position(points), triangles) for points, triangles in meshes]
        (folder / "stages" / f"{name}.glb").write_bytes(glb(upright))
    _write(
        folder / "stages" / "apartment.stage_config.json",
        {"render_asset": "visual.glb", "collision_asset": "collision.glb"}
        | {"up": [0, 1, 0], "front": [0, 0, -1], "margin": 0.0, "requires_lighting": False},
    )
    _write_objects(folder / "objects", assets)
    (folder / "robot" / "fetch.urdf").write_text(urdf("fetch", fetch_for_habitat_lab(model)))
    furniture = [furniture_asset(model, root, handles_apart=False) for root in FURNITURE]
    _write(folder / "scenes" / "apartment.scene_instance.json", _scene_instance(furniture))
    dataset = folder / "composed.scene_dataset_config.json"
    _write(
        dataset,
        {
            "stages": {"paths": {".json": ["stages"]}},
            "objects": {"paths": {".json": ["objects"]}},
            "articulated_objects": {"paths": {".urdf": [piece.file for piece in furniture]}},
            "scene_instances": {"paths": {".json": ["scenes"]}},
        },
    )
    file = folder / "episodes.json.gz"
    markers = [marker for piece in furniture for marker in _markers(model, piece)]
    entries = [
        _episode(k, episode, dataset, folder) | {"markers": markers}
        for k, episode in enumerate(episodes)
    ]
    with gzip.open(file, "wt") as stream:
        json.dump({"config": None, "episodes": entries}, stream)
    main = "habitat.simulator.agents.main_agent"
    return [
        f"habitat.dataset.data_path={file}",
        f"habitat.dataset.scenes_dir={folder}",
        f"habitat.simulator.scene_dataset={dataset}",
        f"habitat.simulator.additional_object_paths=[{folder / 'objects'}]",
        f"{main}.articulated_agent_urdf={folder / 'robot' / 'fetch.urdf'}",
        f"{main}.ik_arm_urdf=null",
        f"{main}.sim_sensors.head_depth_sensor.width=128",
        f"{main}.sim_sensors.head_depth_sensor.height=128",
        "habitat.simulator.habitat_sim_v0.gpu_device_id=-1",
    ]


def _write_objects(folder: Path, assets: SceneAssets) -> None:
    """One file for each kind of object."""
    for kind in OBJECT_KINDS:
        asset = assets.objects[APARTMENT.slot_kinds.index(kind)]
        _write(
            folder / f"{kind}.object_config.json",
            {"render_asset": asset.visual, "collision_asset": asset.collision}
            | {"up": [0, 1, 0], "front": [0, 0, -1], "margin": 0.0, "mass": asset.mass}
            | {"join_collision_meshes": False, "requires_lighting": False},
        )


def _scene_instance(furniture: Any) -> dict[str, Any]:
    """The apartment as a stage, with its fridge and cabinet."""
    pieces = []
    for piece in furniture:
        x, y, z, w = to_habitat_rotation(piece.rotation).tolist()
        pieces.append(
            {
                "template_name": Path(piece.file).stem,
                "translation_origin": "COM",
                "translation": to_habitat_position(piece.position).tolist(),
                "rotation": [w, x, y, z],
                "fixed_base": True,
                "motion_type": "DYNAMIC",
            }
        )
    return {
        "stage_instance": {"template_name": "apartment"},
        "default_lighting": "",
        "object_instances": [],
        "articulated_object_instances": pieces,
    }


def _markers(model: mujoco.MjModel, piece: FurnitureAsset) -> list[dict[str, Any]]:
    """The handles of a piece of furniture as markers of habitat-lab."""
    markers = []
    for name, joint in JOINT_OF_MARKER.items():
        if joint not in piece.joints:
            continue
        # The engine's frame of a link is where its mass is
        offset = model.geom(f"handle_{joint}").pos - model.body(joint).ipos
        place = {"object": f"{Path(piece.file).stem}_:0000", "link": joint}
        markers.append(
            {"name": name, "type": "articulated_object"}
            | {"params": place | {"offset": offset.tolist()}}
        )
    return markers


def _episode(number: int, episode: Episode, dataset: Path, folder: Path) -> dict[str, Any]:
    """An episode of ours as one of habitat-lab's rearrangement data set."""
    objects, names, counts = [], {}, dict.fromkeys(OBJECT_KINDS, 0)
    # habitat-lab sorts objects by name and numbers those of one kind.
    for slot, pose in sorted(
        episode.objects.items(), key=lambda item: APARTMENT.slot_kinds[item[0]]
    ):
        kind = APARTMENT.slot_kinds[slot]
        objects.append([f"{kind}.object_config.json", _transform(pose[:3], pose[3:])])
        names[slot] = f"{kind}_:{counts[kind]:04d}"
        counts[kind] += 1
    goals = {names[t.slot]: _transform(t.goal, (1, 0, 0, 0)) for t in episode.targets}
    labels = {names[t.slot]: f"any_targets|{k}" for k, t in enumerate(episode.targets)}
    return {
        "episode_id": str(number),
        "scene_id": str(folder / "scenes" / "apartment.scene_instance.json"),
        "scene_dataset_config": str(dataset),
        "additional_obj_config_paths": [str(folder / "objects")],
        "start_position": [0.0, 0.0, 0.0],
        "start_rotation": [0.0, 0.0, 0.0, 1.0],
        "info": {"object_labels": labels},
        "ao_states": {},
        "rigid_objs": objects,
        "targets": goals,
        "target_receptacles": [],
        "goal_receptacles": [],
        "name_to_receptacle": {},
    }


def _transform(position: Any, rotation: Any) -> list[list[float]]:
    """A pose of ours as Habitat's 4 x 4 transformation."""
    x, y, z, w = to_habitat_rotation(rotation)
    matrix = np.eye(4)
    matrix[:3, :3] = rotation_matrix(np.array([w, x, y, z]))
    matrix[:3, 3] = to_habitat_position(position)
    return matrix.tolist()


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1))
