"""Plans for handles."""

from rearrange.check_scene import checks
from skills.oracle import handle_planner


def test_check_scene_knows_the_least_lever_of_a_door():
    assert 0.0 <= checks.LEAST_LEVER - handle_planner.LEAST_LEVER < 0.01
