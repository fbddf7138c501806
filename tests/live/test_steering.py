"""Driving by keys, buttons and sliders."""

import numpy as np
import pytest

from live.steering import NUDGE, Steering, towards
from rearrange.env import RearrangeEnv
from rearrange.robot import kinematics
from rearrange.robot.actions import HOLD, LET_GO
from rearrange.robot.fetch import FETCH
from tests.helpers.unseen_page import Page, use

ACTIONS = FETCH.actions
ARM, GRIP, AHEAD, TURN = ACTIONS.arm, ACTIONS.grip, ACTIONS.forward, ACTIONS.turn


@pytest.fixture(scope="module")
def world():
    env = RearrangeEnv("pick", split="val")
    env.reset(seed=0)
    yield env
    env.close()


def test_a_press_moves_the_base_for_a_moment(world):
    page, now = Page(), [0.0]
    steering = Steering(page, FETCH, lambda: now[0])
    assert not steering(world)[[AHEAD, TURN]].any()
    use(page.gui.keys["arrowup"])
    use(page.gui.widgets["turn right"])
    scale = world.task.action.scale(ACTIONS)
    np.testing.assert_allclose(steering(world)[[AHEAD, TURN]], [scale[AHEAD], -scale[TURN]])
    now[0] = NUDGE + 0.01
    assert not steering(world)[[AHEAD, TURN]].any()


def test_suction_and_joints(world):
    page = Page()
    steering = Steering(page, FETCH)
    assert steering(world)[GRIP] == LET_GO
    use(page.gui.keys["G"])
    assert steering(world)[GRIP] == HOLD
    slider = next(w for name, w in page.gui.widgets.items() if name.startswith("shoulder"))
    slider.value = 0.5
    assert np.count_nonzero(steering(world)[ARM]) == 1
    use(page.gui.widgets["stand still"])
    assert not steering(world)[ARM].any()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_hand_goes_where_it_is_sent(axis):
    joints = np.array(FETCH.resting_arm, float)
    before = np.array(kinematics.forward(FETCH, joints)[0])
    motion = np.zeros(3)
    motion[axis] = -0.01
    moved = np.array(kinematics.forward(FETCH, joints + towards(FETCH, joints, motion))[0]) - before
    assert moved @ motion / np.linalg.norm(moved) / 0.01 > 0.9
    assert 0.005 < np.linalg.norm(moved) < 0.012


def test_the_hands_button_moves_the_arm(world):
    page, now = Page(), [0.0]
    steering = Steering(page, FETCH, lambda: now[0])
    use(page.gui.widgets["hand up"])
    assert steering(world)[ARM].any()
