import pytest

from rearrange import SimulatorConfig
from rearrange.errors import UserError


def test_images_have_at_least_a_pixel():
    for size in (0, -64, 100_000):
        with pytest.raises(UserError, match=f"camera_size must be from 1 to 1024, found {size}"):
            SimulatorConfig(camera_size=size)
