import numpy as np
import pytest

from rearrange.robot.actions import HOLD, LET_GO
from rearrange.robot.fetch import FETCH
from skills.oracle.arm import ARM_STEP, SETTLE_STEPS, TARGET_LEAD, Arm

REST = np.array(FETCH.resting_arm)


class Still(Arm):
    """An arm whose joints go where its targets are, times `share`."""

    def __init__(self, share=1.0):
        self.spec, self.joints, self.holding, self.speed = FETCH, REST.copy(), False, 0.0
        self.targets, self._targets_known, self.share = np.zeros(len(REST)), False, share

    def run(self, steps, limit=1000):
        """Carry out a motion; returns its actions and what it tells."""
        actions = []
        while len(actions) < limit:
            try:
                actions.append(next(steps))
            except StopIteration as end:
                return np.array(actions), end.value
            self.joints = self.joints + self.share * (self.targets - self.joints)
        pytest.fail("the motion does not end")


def test_a_way_is_followed_at_the_arms_speed_to_its_end():
    arm, goal = Still(), REST + np.linspace(-0.2, 0.2, len(REST))
    actions, arrived = arm.run(arm.follow(np.array([REST, goal])))
    assert arrived
    np.testing.assert_allclose(arm.joints, goal, atol=1e-9)
    assert np.abs(actions[:, FETCH.actions.arm]).max() <= ARM_STEP
    assert len(actions) == np.ceil(0.2 / ARM_STEP)


def test_an_arm_that_is_held_back_does_not_arrive():
    arm, goal = Still(share=0.0), REST + 0.3
    actions, arrived = arm.run(arm.settle(goal))
    assert not arrived
    assert len(actions) == SETTLE_STEPS
    assert np.abs(arm.targets - arm.joints).max() <= TARGET_LEAD + 1e-9


def test_targets_that_were_left_behind_are_learned_once_the_arm_is_at_rest():
    arm = Still()
    arm.speed = 1.0
    actions, known = arm.run(arm.find_targets())
    assert known
    assert len(actions) == SETTLE_STEPS
    assert arm.run(arm.find_targets())[0].size == 0
    np.testing.assert_array_equal(arm.targets, arm.joints)


def test_what_is_held_is_held_on_to():
    arm = Still()
    grip = FETCH.actions.grip
    assert arm.command()[grip] == LET_GO
    arm.holding = True
    assert arm.command()[grip] == HOLD
    assert arm.command(grip=LET_GO)[grip] == LET_GO


def test_descents_are_slow():
    arm = Still()
    references = arm.slowly(np.array([REST, REST + 0.1]))
    np.testing.assert_allclose(references[-1], REST + 0.1)
    assert np.abs(np.diff([REST, *references], axis=0)).max() <= 0.7 * ARM_STEP + 1e-9
