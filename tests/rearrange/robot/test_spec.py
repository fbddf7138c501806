import dataclasses

import pytest

from rearrange.errors import UserError
from tests.helpers.crane import CRANE


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joints": (*CRANE.joints[:4], CRANE.joints[0])}, "each needs a name of its own"),
        (
            {"joints": (dataclasses.replace(CRANE.joints[0], name="turn"), *CRANE.joints[1:])},
            "'turn' names another number of an action",
        ),
        ({"resting_arm": (0.0, 0.0)}, "resting_arm must have 5 angles, found 2"),
        ({"base": dataclasses.replace(CRANE.base, radius=0.4)}, "base.radius must be at most 0.3"),
        (
            {"joints": (dataclasses.replace(CRANE.joints[0], axis="w"), *CRANE.joints[1:])},
            "pan: axis must be one of x, y, z, found 'w'",
        ),
        (
            {"joints": (dataclasses.replace(CRANE.joints[0], slides=-1.0), *CRANE.joints[1:])},
            "pan: slides must be 0, or above 0 between finite limits, found -1 between -2.5 and 2.5",
        ),
        (
            {"joints": (*CRANE.joints[:4], dataclasses.replace(CRANE.joints[4], slides=0.2))},
            "roll: slides must be 0, or above 0 between finite limits, found 0.2 between -inf and inf",
        ),
    ],
)
def test_a_spec_that_cannot_be_right_says_why(changes, message):
    with pytest.raises(UserError, match=message):
        dataclasses.replace(CRANE, **changes)
