import json

import numpy as np
import pytest
from gymnasium import spaces

from ver.spaces import space_from_json, space_to_json


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([1.0, 2.0], np.float32)),
        spaces.Box(0, 255, (4, 4, 3), np.uint8),
        spaces.Discrete(4, start=1),
        spaces.MultiDiscrete([2, 3], start=[1, 0]),
        spaces.Tuple([spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(3)]),
        spaces.Dict([("z", spaces.Discrete(2)), ("a", spaces.Box(0, 1, (1,), np.float32))]),
    ],
)
def test_spaces_round_trip(space):
    rebuilt = space_from_json(json.loads(json.dumps(space_to_json(space))))
    assert rebuilt == space
    if isinstance(space, spaces.Dict):
        assert list(rebuilt) == list(space)  # columns keep their order
