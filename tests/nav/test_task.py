import math

import numpy as np

from nav.task import StartSensors


def test_gps_and_compass_are_habitats():
    """Ahead and to the right of the start; turns to the left are positive."""
    starts = np.array([(1.0, 2.0, math.pi / 2)] * 3)
    poses = np.array([(1.0, 3.0, math.pi / 2), (2.0, 2.0, math.pi), (1.0, 2.0, -math.pi / 4)])
    seen = StartSensors.observe(starts, poses)
    np.testing.assert_allclose(seen["gps"], [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0)], atol=1e-6)
    turned = [[0.0], [math.pi / 2], [-3 * math.pi / 4]]
    np.testing.assert_allclose(seen["compass"], turned, atol=1e-6)
