"""The way straight ahead."""

import torch

from locomotion.course import FAR, Course


def test_it_leads_straight_ahead_over_a_plain_until_the_first_fall():
    course = Course(3, "cpu")
    qpos = torch.rand(2, 28)
    assert course.begin(torch.tensor([0, 2]), qpos, torch.rand) is qpos
    assert course.target.tolist() == [[FAR, 0], [0, 0], [FAR, 0]]
    assert course.things(qpos) is None
    assert course.ground(qpos) == 0.0
    low = torch.tensor([False, True, False])
    assert course.over(low) is low
    assert not course.looks()
    assert not course.metrics(torch.ones(3))
