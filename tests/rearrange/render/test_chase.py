import mujoco
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from rearrange import RearrangeEnv, SimulatorConfig, UserError
from rearrange.render.chase import ChaseCamera, Cutaway
from tests.helpers.colours import colours_of

# A robot would stand at the origin; the camera at (-3, 0, 3) looks at it.
ROOM = """
<mujoco><worldbody>
  <geom name="floor" type="plane" size="9 9 1"/>
  <geom name="rug" type="box" pos="0 0 0" size="2 2 0.01"/>
  <geom name="in_the_way" type="box" pos="-1 0 1" size="0.05 1 1.2"/>
  <geom name="wall_beside" type="box" group="2" pos="-1.2 1.3 1" size="0.05 0.5 1.3"/>
  <geom name="cupboard_beside" type="box" pos="-1.2 -1.3 1" size="0.05 0.5 1.3"/>
  <geom name="behind" type="box" pos="2 0 1" size="0.1 2 1.5"/>
  <geom name="ceiling" type="box" group="3" pos="0 0 2.6" size="5 5 0.05"/>
  <body name="door" pos="-1.5 0 1"><joint/><geom name="door" type="box" size="0.05 1 1"/></body>
</worldbody></mujoco>
"""
EYE = np.array((-3.0, 0.0, 3.0))


@pytest.fixture
def room():
    model = mujoco.MjModel.from_xml_string(ROOM)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def shown(model, table):
    return {model.geom(int(i)).name for i in table.ids}


def test_what_stands_before_the_robot_is_left_out(room):
    model, data = room
    names = shown(model, Cutaway(model).table(data, EYE, (0.0, 0.0, 0.0)))
    # Walls are cut more widely than furniture; what moves is never cut, the ceiling always.
    assert names == {"floor", "rug", "cupboard_beside", "behind", "door"}


def test_hidden_things_come_back_after_a_while(room):
    model, data = room
    cutaway = Cutaway(model, keep_hidden=3)
    assert "in_the_way" not in shown(model, cutaway.table(data, EYE, (0.0, 0.0, 0.0)))
    far = (-3.0, 0.0, 0.0)  # the robot has come out from behind it
    seen = ["in_the_way" in shown(model, cutaway.table(data, EYE, far)) for _ in range(4)]
    assert seen == [False, False, True, True]


def test_camera_looks_at_the_robot_and_turns_the_short_way():
    camera = ChaseCamera()
    camera.follow((1.0, 2.0, 3.0))
    towards = np.array((1.0, 2.0, 0.65)) - camera.position
    assert -camera.rotation[:, 2] @ towards / np.linalg.norm(towards) > 0.98
    before = camera.position.copy()
    camera.follow((1.0, 2.0, -3.0))  # 0.28 rad further to the left, not 6 to the right
    assert 0.0 < np.linalg.norm(camera.position - before) < 0.1


def test_camera_arrives():
    camera = ChaseCamera()
    camera.follow((0.0, 0.0, 0.0))
    for _ in range(400):
        camera.follow((4.0, 1.0, 2.0))
    fresh = ChaseCamera()
    fresh.follow((4.0, 1.0, 2.0))
    assert np.allclose(camera.position, fresh.position, atol=1e-3)


def test_an_environment_draws_what_it_does():
    small = SimulatorConfig(camera_size=8)
    env = RearrangeEnv("open_fridge", split="val", simulator=small, render_mode="rgb_array")
    with pytest.raises(ResetNeeded, match="reset"):
        env.render()
    env.reset(seed=0)
    first = env.render()
    assert first.shape == (540, 680, 3)
    assert first.dtype == np.uint8
    assert len(colours_of(first)) > 500
    env.step(np.ones(11, np.float32))
    assert (env.render() != first).any()
    env.close()


def test_an_environment_without_a_mode_draws_nothing():
    env = RearrangeEnv("open_fridge", split="val", simulator=SimulatorConfig(camera_size=8))
    env.reset(seed=0)
    assert env.render() is None
    with pytest.raises(
        UserError, match="render_mode must be rgb_array, human or None, found 'film'"
    ):
        RearrangeEnv("open_fridge", render_mode="film")
