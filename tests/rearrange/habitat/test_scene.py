"""The files that Habitat loads hold the same apartment, objects and robot as MuJoCo; without Habitat."""

import json
import struct
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rearrange.habitat.scene import (
    GROUND,
    cache_folder,
    glb,
    physics_settings,
    robot_file,
    scene_assets,
    scene_meshes,
)
from rearrange.robot import kinematics
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import OBJECT_KINDS
from rearrange.sim.apartment_model import load_apartment


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    robot_file.cache_clear()
    scene_assets.cache_clear()
    yield
    scene_assets.cache_clear()


def read_glb(content):
    """Vertices and triangles of the meshes of a binary glTF."""
    magic, version, length = struct.unpack_from("<III", content)
    assert (magic, version, length) == (0x46546C67, 2, len(content))
    size, kind = struct.unpack_from("<II", content, 12)
    assert kind == 0x4E4F534A
    document = json.loads(content[20 : 20 + size])
    blob = content[28 + size :]
    assert len(blob) == document["buffers"][0]["byteLength"]

    def array(index):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        kind, width = ("<f4", 3) if accessor["type"] == "VEC3" else ("<u4", 1)
        start, count = view["byteOffset"], width * accessor["count"]
        return np.frombuffer(blob, kind, count, start).reshape(-1, width)

    meshes = []
    for node in document["nodes"]:
        (part,) = document["meshes"][node["mesh"]]["primitives"]
        triangles = array(part["indices"]).reshape(-1, 3)
        meshes.append((array(part["attributes"]["POSITION"]), triangles))
    return meshes


def volume(mesh):
    """Of a closed mesh whose triangles look outwards [m3]."""
    points, triangles = mesh
    a, b, c = (points[triangles[:, k]].astype(float) for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def test_a_glb_holds_its_meshes():
    square = (np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0.0)]), np.array([(0, 1, 2)], np.uint32))
    (points, triangles), other = read_glb(glb([square, square]))
    assert points.tolist() == square[0].tolist() == other[0].tolist()
    assert triangles.tolist() == [[0, 1, 2]]


def test_a_glb_tells_colours():
    square = (np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0.0)]), np.array([(0, 1, 2)], np.uint32))
    red, blue = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)
    content = glb([square, square, square], [red, blue, red])
    assert len(read_glb(content)) == 3
    document = json.loads(content[20 : 20 + struct.unpack_from("<I", content, 12)[0]])
    told = [
        tuple(kind["pbrMetallicRoughness"]["baseColorFactor"]) for kind in document["materials"]
    ]
    materials = [mesh["primitives"][0]["material"] for mesh in document["meshes"]]
    assert [told[index] for index in materials] == [red, blue, red]


def test_each_solid_of_an_apartment_is_there_with_its_volume_and_place():
    model = load_apartment(3, 0, FETCH).model
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    _, _, (ground, *solids) = scene_meshes(3, 0)
    assert volume(ground) == pytest.approx(np.prod(GROUND))
    assert ground[0][:, 2].max() == 0.0
    geoms = [
        g
        for g in range(model.ngeom)
        if model.geom_contype[g]
        and model.body_weldid[model.geom_bodyid[g]] == 0
        and model.geom_type[g] != mujoco.mjtGeom.mjGEOM_PLANE
    ]
    assert len(solids) == len(geoms) > 50
    for geom, mesh in zip(geoms, solids, strict=True):
        size = model.geom_size[geom]
        box = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX
        expected = 8 * np.prod(size) if box else 2 * np.pi * size[0] ** 2 * size[1]
        assert volume(mesh) == pytest.approx(expected, rel=1e-6 if box else 0.01)
        middle = 0.5 * (mesh[0].min(0) + mesh[0].max(0))
        assert middle == pytest.approx(data.geom_xpos[geom], abs=0.002)


def test_what_is_only_seen_is_seen():
    parts, colours, solids = scene_meshes(3, 0)
    triangles = sum(len(triangles) for _, triangles in parts)
    assert triangles > sum(len(triangles) for _, triangles in solids[1:])
    assert len(parts) == len(colours) == len(set(colours)) > 5


def test_objects_have_their_sizes_and_masses():
    assets = scene_assets(3, 0)
    assert len(assets.objects) == len(APARTMENT.slot_kinds)
    for slot, kind in enumerate(APARTMENT.slot_kinds):
        asset = assets.objects[slot]
        assert asset.mass == pytest.approx(OBJECT_KINDS[kind].mass)
        assert all(0.0 < x < 0.01 for x in asset.inertia)
        with open(asset.collision, "rb") as file:
            points = np.concatenate([mesh[0] for mesh in read_glb(file.read())])
        assert -points[:, 2].min() == pytest.approx(OBJECT_KINDS[kind].half_height, abs=1e-6)


def tip_of(file, joints):
    """Centre of mass of the cup, base frame, by the chain that the URDF file describes."""
    root = ElementTree.parse(file).getroot()
    above = {j.find("child").get("link"): j for j in root.findall("joint")}

    def numbers(element, name):
        return np.array([float(x) for x in element.get(name).split()])

    def pose(link):
        if link not in above:
            return np.zeros(3), Rotation.identity()
        joint = above[link]
        position, turn = pose(joint.find("parent").get("link"))
        origin = joint.find("origin")
        position = position + turn.apply(numbers(origin, "xyz"))
        turn = turn * Rotation.from_euler("xyz", numbers(origin, "rpy"))
        angle = joints.get(link.removeprefix("fetch_"), 0.0)
        if joint.get("type") != "fixed":
            turn = turn * Rotation.from_rotvec(angle * numbers(joint.find("axis"), "xyz"))
        return position, turn

    position, turn = pose(FETCH.suction_geom)
    (cup,) = (link for link in root.findall("link") if link.get("name") == FETCH.suction_geom)
    return position + turn.apply(numbers(cup.find("inertial/origin"), "xyz")), turn.as_matrix()


@pytest.mark.parametrize("seed", range(3))
def test_the_robots_file_has_the_arms_kinematics(seed):
    angles = np.random.default_rng(seed).uniform(-1.0, 1.0, len(FETCH.joints))
    joints = dict(zip(FETCH.joint_names, angles, strict=True))
    position, rotation = tip_of(robot_file(), joints)
    expected = kinematics.forward(FETCH, angles)
    assert position == pytest.approx(expected[0], abs=1e-6)
    assert rotation == pytest.approx(expected[1], abs=1e-6)


def test_doors_and_drawers_are_joints_with_their_limits():
    model = load_apartment(3, 0, FETCH).model
    found = {}
    for piece in scene_assets(3, 0).furniture:
        root = ElementTree.parse(piece.file).getroot()
        for name in piece.joints:
            (joint,) = (j for j in root.findall("joint") if j.find("child").get("link") == name)
            limit = joint.find("limit")
            found[name] = float(limit.get("lower")), float(limit.get("upper"))
            assert root.find(f"link[@name='handle_{name}']") is not None
    assert tuple(found) == APARTMENT.joints
    for name, limits in found.items():
        assert limits == pytest.approx(tuple(model.jnt_range[model.joint(name).id]))


def test_files_are_named_after_what_they_hold():
    first = scene_assets(3, 0)
    scene_assets.cache_clear()
    assert scene_assets(3, 0).collision == first.collision
    assert scene_assets(3, 1).collision != first.collision
    robot = robot_file()
    robot_file.cache_clear()
    assert robot_file() == robot
    assert physics_settings().endswith(".physics_config.json")
    assert {path.suffix for path in cache_folder().iterdir()} == {".glb", ".urdf", ".json"}
