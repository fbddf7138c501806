import pytest

from rearrange.robot import register_robot, unregister_robot
from tests.helpers.crane import CRANE


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The crane is a robot while a file of tests runs."""
    register_robot(CRANE)
    yield
    unregister_robot("crane")
