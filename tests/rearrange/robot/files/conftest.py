from contextlib import suppress

import pytest

from rearrange.robot.files import read_robot
from tests.helpers.file_robot import MODEL, WORDS, write_robot


@pytest.fixture
def read(tmp_path):
    """Read a robot of these words and this model."""

    def run(words=WORDS, model=MODEL, name="heron"):
        read_robot.cache_clear()
        return read_robot(write_robot(tmp_path, name, words, model).resolve())

    yield run
    with suppress(AttributeError):
        read_robot.cache_clear()


@pytest.fixture(scope="session")
def heron(tmp_path_factory):
    """The robot as it is."""
    return read_robot(write_robot(tmp_path_factory.mktemp("heron")).resolve())
