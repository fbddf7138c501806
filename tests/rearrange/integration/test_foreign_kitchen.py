"""The Franka kitchen of gymnasium-robotics, which nobody here made, as a home; nothing of it is kept here."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from rearrange.check_scene.command import main
from rearrange.scenes import registry
from rearrange.scenes.home_files import read_home
from rearrange.scenes.registry import unregister_homes

FOUND = find_spec("gymnasium_robotics")
pytestmark = pytest.mark.skipif(
    FOUND is None, reason="pip install --no-deps gymnasium-robotics brings the kitchen"
)
PIECES = ("oven", "counters", "backwall", "slidecabinet", "hingecabinet", "microwave", "kettle")
PLACES = {
    "slidecabinet": "0.3 1.05 2.6",
    "hingecabinet": "-0.604 1.03 2.6",
    "microwave": "-0.85 0.725 1.6",
    "kettle": "-0.269 0.35 1.626",
}
WORDS = """
model: franka.xml
scale: 0.5
bounds: [-1.5, -4.5, 2.6, 1.4]
receptacles: {counter: counter_room, stove: stove_room, in_cupboard: cupboard_room}
parts:
  cupboard: {joint: right_hinge_cabinet, handle: hinge_site2, shuts: in_cupboard}
"""


def site(name: str, place: str, size: str) -> str:
    return f'<site name="{name}" type="box" pos="{place}" size="{size}"/>'


def model(folder: str) -> str:
    """The kitchen without its robot, with sites where things may stand."""
    items = f"{folder}/kitchen_assets/item_assets"
    assets = "".join(f'<include file="{items}/{name}_asset.xml"/>' for name in PIECES)
    bodies = "".join(
        f'<body name="the_{name}" pos="{PLACES.get(name, "-0.1 0.75 0")}">'
        f'<include file="{items}/{name}_chain.xml"/></body>'
        for name in PIECES
    )
    return f"""<mujoco>
      <compiler angle="radian" texturedir="{folder}/kitchen_assets/textures"
        meshdir="{folder}/franka_assets/meshes"/>
      {assets}
      <worldbody>
        <geom name="floor" type="plane" size="5 5 0.1"/>
        {site("counter_room", "-0.93 -0.25 2.1", "0.36 0.5 0.5")}
        {site("stove_room", "0.15 0.42 1.868", "0.3 0.26 0.25")}
        {site("cupboard_room", "-0.404 0.98 2.6", "0.14 0.22 0.16")}
        {bodies}
      </worldbody>
    </mujoco>"""


def test_it_is_a_home(tmp_path, capsys):
    assert FOUND is not None
    assert FOUND.origin is not None
    assets = Path(FOUND.origin).parent / "envs" / "assets" / "kitchen_franka"
    (tmp_path / "kitchen").symlink_to(assets)
    (tmp_path / "franka.xml").write_text(model("kitchen"))
    path = tmp_path / "franka.yaml"
    path.write_text(WORDS)
    assert main([str(path), "--output", str(tmp_path / "sheet.png")]) == 0
    told = capsys.readouterr().out
    assert "receptacles.counter: 0.36 m by 0.50 m, 0.80 m high" in told
    assert "parts.cupboard: a door that opens by 1.57 rad" in told
    home = read_home(path.resolve())
    unregister_homes(home.spec)
    registry._register_file.cache_clear()
    assert len(home.spec.make(1, 0).solids) > 100
