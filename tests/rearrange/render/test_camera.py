import numpy as np
import pytest

from rearrange.render import Camera, look_at


def test_look_at_is_upright_and_right_handed():
    rotation = look_at((1, 2, 3), (4, 2, 3))
    np.testing.assert_allclose(rotation, [[0, 0, -1], [-1, 0, 0], [0, 1, 0]], atol=1e-12)
    for target in ((0, 0, 0), (5, -2, 1), (1, 2, -7), (1, 2, 9)):
        rotation = look_at((1, 2, 3), target)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(rotation) == pytest.approx(1.0)
        forward = np.subtract(target, (1, 2, 3))
        np.testing.assert_allclose(-rotation[:, 2], forward / np.linalg.norm(forward), atol=1e-12)


def test_looking_straight_down_has_north_up():
    np.testing.assert_allclose(look_at((0, 0, 5), (0, 0, 0))[:, 1], (0, 1, 0), atol=1e-12)


def test_rays_pass_through_pixel_centres():
    rays = Camera(2, 4, 90).rays()
    np.testing.assert_allclose(rays[0, :, 0], (-0.75, -0.25, 0.25, 0.75))
    np.testing.assert_allclose(rays[:, 0, 1], (0.25, -0.25))
    assert (rays[..., 2] == -1.0).all()


@pytest.mark.parametrize("arguments", [(0, 4, 90), (4, 4, 0), (4, 4, 180)])
def test_impossible_lenses_are_refused(arguments):
    with pytest.raises(ValueError, match="must be"):
        Camera(*arguments)


def test_eye_and_target_must_differ():
    with pytest.raises(ValueError, match="coincide"):
        look_at((1, 1, 1), (1, 1, 1))
