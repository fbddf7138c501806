import pytest

from rearrange.scenes import registry
from rearrange.scenes.home_files import read_home
from rearrange.scenes.registry import spec_of_homes, unregister_homes
from tests.helpers.file_home import write_home


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = write_home(tmp_path_factory.mktemp("barn"), "barn").resolve()
    yield found
    registry._register_file.cache_clear()
    unregister_homes(read_home(found).spec)


@pytest.fixture(scope="module")
def spec(path):
    return spec_of_homes(str(path))
