import math
from types import SimpleNamespace

import numpy as np

from skills.spa import Observed


def test_odometry_is_relative_to_the_start():
    start = np.array([[2.0, 1.0, math.pi / 2]])
    state = SimpleNamespace(
        base_pose=start.copy(), arm_joints=np.zeros((1, 7)), held_object=[-1], held_handle=[-1]
    )
    observed = Observed(SimpleNamespace(state=state, elapsed_steps=0, episode=None))  # pyright: ignore
    np.testing.assert_allclose(observed.base_pose, 0.0, atol=1e-12)
    state.base_pose[0] = (2.0, 2.5, math.pi)
    np.testing.assert_allclose(observed.base_pose, (1.5, 0.0, math.pi / 2), atol=1e-12)
    np.testing.assert_allclose(
        observed.to_start_frame((1.0, 1.0, 0.7)), (0.0, 1.0, 0.7), atol=1e-12
    )
    assert not observed.is_holding
    state.held_handle[0] = 2
    assert observed.is_holding
