"""Spaces of toy environments."""

import numpy as np
from gymnasium import spaces

VECTOR = spaces.Dict({"x": spaces.Box(-1, 1, (3,), np.float32)})
BOX = spaces.Box(-1, 1, (2,), np.float32)
MIXED = spaces.Dict(
    [
        ("press", spaces.MultiDiscrete([3, 5])),
        ("aim", spaces.Box(np.float32([-2, 0]), np.float32([2, 1]))),
        ("mode", spaces.Discrete(2)),
    ]
)
