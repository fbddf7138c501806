import dataclasses

import pytest

from rearrange.errors import UserError
from rearrange.robot.parts import add_robot
from rearrange.scenes.compile import empty_spec
from tests.helpers.crane import CRANE


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suction_geom": "cup"}, "its builder adds no geom 'cup'"),
        ({"joints": CRANE.joints[::-1]}, "its builder must drive"),
    ],
)
def test_a_builder_that_does_not_build_its_spec_says_why(changes, message):
    with pytest.raises(UserError, match=message):
        add_robot(empty_spec(), dataclasses.replace(CRANE, **changes), (), {})


def test_a_joint_that_is_called_as_a_part_of_the_home_is_told():
    spec = empty_spec()
    spec.worldbody.add_body().add_joint(name=CRANE.joints[1].name)
    with pytest.raises(UserError, match=r"repeated name .* a part of the home is called so, too"):
        add_robot(spec, CRANE, (), {})
