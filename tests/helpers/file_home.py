"""A home in files, as a user would write them: an MJCF model with an include and a mesh, and its YAML file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from rearrange.scenes import registry
from rearrange.scenes.home_files import read_home

SHELL = """
<mujoco model="cottage">
  <compiler angle="degree" meshdir="meshes"/>
  <include file="furniture.xml"/>
  <asset>
    <mesh name="vase" file="vase.obj"/>
    <texture name="checks" type="2d" builtin="checker" rgb1="0.8 0.3 0.2" rgb2="0.9 0.8 0.7"
      width="64" height="64"/>
    <material name="glaze" texture="checks"/>
  </asset>
  <worldbody>
    <geom name="ground" type="plane" size="10 10 0.1" pos="0 0 0.2" rgba="0.7 0.6 0.5 1"/>
    <geom name="north" type="box" size="2.6 0.05 1.3" pos="0 2.05 1.5"/>
    <geom name="south" type="box" size="2.6 0.05 1.3" pos="0 -2.05 1.5"/>
    <geom name="east" type="box" size="0.05 2 1.3" pos="2.55 0 1.5"/>
    <geom name="west" type="box" size="0.05 2 1.3" pos="-2.55 0 1.5"/>
    <body name="table" pos="1.95 -1.0 0.2">
      <geom name="table_top" type="box" size="0.4 0.6 0.02" pos="0 0 0.70" rgba="0.6 0.4 0.25 1"/>
      <geom type="box" size="0.03 0.03 0.34" pos="0.35 0.55 0.34"/>
      <geom type="box" size="0.03 0.03 0.34" pos="-0.35 0.55 0.34"/>
      <geom type="box" size="0.03 0.03 0.34" pos="0.35 -0.55 0.34"/>
      <geom type="box" size="0.03 0.03 0.34" pos="-0.35 -0.55 0.34"/>
    </body>
    <geom name="vase" type="mesh" mesh="vase" material="glaze" pos="2.2 1.7 0.2"/>
    <body name="bench" pos="0.4 1.6 0.2" euler="0 0 5">
      <geom name="seat" type="box" size="0.7 0.3 0.22" pos="0 0 0.22" rgba="0.3 0.45 0.6 1"/>
    </body>
  </worldbody>
</mujoco>
"""

FURNITURE = """
<mujoco>
  <default>
    <default class="wood"><geom type="box" rgba="0.65 0.5 0.35 1"/></default>
    <default class="steel"><geom type="box" rgba="0.8 0.82 0.85 1"/></default>
  </default>
  <worldbody>
    <body name="cabinet" pos="-2.2 -1.0 0.2" childclass="wood">
      <geom size="0.30 0.39 0.31" pos="0 0 0.31"/>
      <geom size="0.01 0.39 0.15" pos="-0.29 0 0.77"/>
      <geom size="0.26 0.01 0.15" pos="-0.02 0.38 0.77"/>
      <geom size="0.26 0.01 0.15" pos="-0.02 -0.38 0.77"/>
      <geom name="cabinet_top" size="0.30 0.39 0.02" pos="0 0 0.90"/>
      <body name="drawer">
        <joint name="drawer_slide" type="slide" axis="1 0 0" range="0 0.45" damping="3" frictionloss="1.5"/>
        <geom size="0.01 0.38 0.11" pos="0.29 0 0.745"/>
        <geom name="drawer_floor" size="0.26 0.36 0.006" pos="0.02 0 0.669"/>
        <geom size="0.26 0.007 0.045" pos="0.02 0.353 0.72"/>
        <geom size="0.26 0.007 0.045" pos="0.02 -0.353 0.72"/>
        <geom name="pull" class="steel" size="0.0175 0.14 0.02" pos="0.3175 0 0.80"/>
      </body>
    </body>
    <body name="cooler" pos="-2.15 0.8 0.2" childclass="steel">
      <geom size="0.34 0.35 0.28" pos="0 0 0.28"/>
      <geom size="0.01 0.35 0.60" pos="-0.33 0 1.16"/>
      <geom size="0.31 0.015 0.60" pos="0 0.335 1.16"/>
      <geom size="0.31 0.015 0.60" pos="0 -0.335 1.16"/>
      <geom size="0.32 0.32 0.015" pos="0 0 1.745"/>
      <geom size="0.30 0.32 0.0075" pos="-0.01 0 0.9425"/>
      <site name="cooler_room" type="box" size="0.14 0.25 0.19" pos="0.06 0 1.14"/>
      <body name="cooler_door" pos="0.34 0.345 0">
        <joint name="cooler_hinge" type="hinge" axis="0 0 1" range="0 135"/>
        <geom size="0.025 0.345 0.595" pos="0.0 -0.345 1.165" density="120"/>
        <geom name="grip" type="capsule" size="0.018" fromto="0.05 -0.62 0.82 0.05 -0.62 1.28"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

WORDS = """
model: cottage.xml
receptacles:
  table: table_top
  bench: bench
  cabinet_top: cabinet_top
  in_drawer: drawer_floor
  in_cooler: {at: cooler_room}
parts:
  drawer: {joint: drawer_slide, handle: pull, shuts: in_drawer}
  cooler: {joint: cooler_hinge, handle: grip, shuts: in_cooler, label: cooler}
"""


def vase() -> str:
    """A turned vase as Wavefront OBJ, with texture coordinates: 0.7 m high, widest in the middle."""
    heights, radii, around = (0.0, 0.3, 0.7), (0.10, 0.18, 0.06), 16
    lines = []
    for z, radius in zip(heights, radii, strict=True):
        for angle in np.linspace(0.0, 2.0 * np.pi, around, endpoint=False):
            lines.append(f"v {radius * np.cos(angle):.5f} {radius * np.sin(angle):.5f} {z:.5f}")
            lines.append(f"vt {angle / 6.3:.5f} {z:.5f}")
    ends = len(heights) * around + 1, len(heights) * around + 2
    lines += [f"v 0 0 {z}\nvt 0.5 {z}" for z in (heights[0], heights[-1])]
    for ring in range(len(heights) - 1):
        for k in range(around):
            a, b = ring * around + k + 1, ring * around + (k + 1) % around + 1
            lines.append(_face(a, b, b + around))
            lines.append(_face(a, b + around, a + around))
    last = (len(heights) - 1) * around
    for k in range(around):
        lines.append(_face(ends[0], (k + 1) % around + 1, k + 1))
        lines.append(_face(ends[1], last + k + 1, last + (k + 1) % around + 1))
    return "\n".join(lines) + "\n"


def _face(*corners: int) -> str:
    return "f " + " ".join(f"{corner}/{corner}" for corner in corners)


def write_home(
    folder: Path,
    name: str = "cottage",
    words: str = WORDS,
    shell: str = SHELL,
    furniture: str = FURNITURE,
) -> Path:
    """Write the files; the YAML one."""
    (folder / "meshes").mkdir(parents=True, exist_ok=True)
    (folder / "meshes" / "vase.obj").write_text(vase())
    (folder / "cottage.xml").write_text(shell)
    (folder / "furniture.xml").write_text(furniture)
    path = folder / f"{name}.yaml"
    path.write_text(words)
    return path


def hung_the_other_way(furniture: str) -> str:
    """The same furniture, with a cooler whose door hangs at its other side and opens clockwise."""
    for before, after in (
        ('pos="0.34 0.345 0"', 'pos="0.34 -0.345 0"'),
        ('axis="0 0 1"', 'axis="0 0 -1"'),
        ('pos="0.0 -0.345 1.165"', 'pos="0.0 0.345 1.165"'),
        ('fromto="0.05 -0.62 0.82 0.05 -0.62 1.28"', 'fromto="0.05 0.62 0.82 0.05 0.62 1.28"'),
    ):
        assert before in furniture
        furniture = furniture.replace(before, after)
    return furniture


@contextmanager
def known_home(
    folder: Path, name: str, furniture: str = FURNITURE, words: str = WORDS
) -> Iterator[str]:
    """Path of a home that is written, and forgotten at the end."""
    found = write_home(folder, name, words, furniture=furniture).resolve()
    yield str(found)
    registry.unregister_homes(read_home(found).spec)
