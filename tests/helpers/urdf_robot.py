"""A robot whose model is a URDF file in a ROS package: meshes by `package://`, efforts, a fixed hand."""

from pathlib import Path

WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

_INERTIA = '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>'


def _link(name: str, mass: float, solid: str, at: str = "0 0 0", seen: str = "") -> str:
    shape = f'<origin xyz="{at}"/><geometry>{solid}</geometry>'
    look = seen or shape
    return (
        f'<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>{_INERTIA}</inertial>'
        f"<visual>{look}</visual><collision>{shape}</collision></link>"
    )


def _joint(
    name: str, kind: str, parent: str, child: str, at: str, axis: str, ends: tuple[float, float]
) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}"/><axis xyz="{axis}"/>'
        f'<limit lower="{ends[0]}" upper="{ends[1]}" effort="90" velocity="1"/></joint>'
    )


URDF = (
    '<robot name="stork">'
    + _link("base_link", 30, '<cylinder radius="0.24" length="0.3"/>', "0 0 0.15")
    + _link("carriage", 4, '<box size="0.1 0.1 0.1"/>')
    + _link(
        "upper",
        3,
        '<box size="0.3 0.08 0.08"/>',
        "0.15 0 0",
        '<geometry><mesh filename="package://stork_description/meshes/wedge.obj" scale="0.3 0.08 0.08"/>'
        "</geometry>",
    )
    + _link("fore", 2, '<box size="0.3 0.06 0.06"/>', "0.15 0 0")
    + _link("wrist", 1, '<box size="0.1 0.05 0.05"/>', "0.05 0 0")
    + _link("palm", 0.4, '<box size="0.04 0.05 0.05"/>', "0.02 0 0")
    + _joint("lift", "prismatic", "base_link", "carriage", "0.05 0 0.75", "0 0 1", (-0.2, 0.4))
    + _joint("pan", "revolute", "carriage", "upper", "0.06 0 0", "0 0 1", (-1.8, 1.8))
    + _joint("elbow", "revolute", "upper", "fore", "0.32 0 0", "0 0 1", (-2.5, 2.5))
    + _joint("bend", "revolute", "fore", "wrist", "0.32 0 0", "0 1 0", (-1.6, 1.8))
    + '<joint name="flange" type="fixed"><parent link="wrist"/><child link="palm"/>'
    '<origin xyz="0.1 0 0"/></joint></robot>'
)

WORDS = """
model: urdf/stork.urdf
hand: palm
base: {radius: 0.26}
cup: {at: [0.04, 0, 0], along: x, length: 0.08}
camera: {at: [0.05, 0, 1.4], target: [0.75, 0, 0.8]}
resting_arm: [0.1, 0.9, -1.6, 0.7]
"""


def write_urdf_robot(folder: Path) -> Path:
    """Write a package `stork_description` into a folder; the path of the robot's YAML file."""
    package = folder / "stork_description"
    for name in ("urdf", "meshes"):
        (package / name).mkdir(parents=True)
    (package / "urdf/stork.urdf").write_text(URDF)
    (package / "meshes/wedge.obj").write_text(WEDGE)
    path = package / "stork.yaml"
    path.write_text(WORDS)
    return path
