"""Objects in files, as a user would write them: a mesh with a texture, a model of two boxes, one YAML file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image

from rearrange.scenes import registry
from rearrange.scenes.object_files import read_objects
from rearrange.scenes.spec import SceneSpec

# An L of two boxes: 10 cm by 4 cm at its foot, 12 cm high
MODEL = """
<mujoco>
  <worldbody>
    <body>
      <geom type="box" size="0.05 0.02 0.01" pos="0.05 0 0.01" density="1000" rgba="0.2 0.4 0.8 1"/>
      <geom type="box" size="0.02 0.02 0.05" pos="0.02 0 0.07" density="1000" rgba="0.2 0.4 0.8 1"/>
    </body>
  </worldbody>
</mujoco>
"""

WORDS = """
objects:
  angle: {model: angle.xml, mass: 0.2, count: 4}
  carton: {model: carton.obj, texture: label.png, scale: 0.01, mass: 0.3}
"""

# A carton in centimetres: 6 by 8 by 14
CORNERS = [(x, y, z) for x in (-3, 3) for y in (-4, 4) for z in (0, 14)]
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def write_objects(folder: Path, words: str = WORDS, name: str = "larder") -> Path:
    """Write all files; returns the YAML file's path."""
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS]
    lines += ["vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1"]
    lines += ["f " + " ".join(f"{a + 1}/{k + 1}" for k, a in enumerate(side)) for side in SIDES]
    (folder / "carton.obj").write_text("\n".join(lines) + "\n")
    label = np.zeros((300, 200, 3), np.uint8)
    label[:, 100:] = 200
    Image.fromarray(label).save(folder / "label.png")
    (folder / "angle.xml").write_text(MODEL)
    path = folder / f"{name}.yaml"
    path.write_text(words)
    return path.resolve()


@contextmanager
def known_objects(folder: Path, words: str = WORDS, name: str = "larder") -> Iterator[SceneSpec]:
    """Apartments with objects of files, known as long as the block lasts."""
    spec = registry.spec_of_homes(str(write_objects(folder, words, name)))
    try:
        yield spec
    finally:
        read_objects.cache_clear()
        registry._register_file.cache_clear()
        registry.unregister_homes(spec)
