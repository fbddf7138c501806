import math
from itertools import pairwise

import numpy as np

from rearrange.robot.planning import link_spheres
from tests.helpers.crane import CRANE


def test_spheres_cover_every_link_from_its_joint_to_the_next():
    radii, end = [0.05] * len(CRANE.joints), (0.1, 0.0, 0.0)
    rows = link_spheres(CRANE.joints, radii, end)
    assert sorted({row[0] for row in rows}) == list(range(len(CRANE.joints)))
    ends = [*(joint.offset for joint in CRANE.joints[1:]), end]
    for link, stop in enumerate(ends):
        places = [np.array(row[1:4]) for row in rows if row[0] == link]
        np.testing.assert_array_equal(places[0], np.zeros(3))
        way = [*places, np.array(stop)]
        gaps = [math.dist(a, b) for a, b in pairwise(way)]
        assert max(gaps) <= 0.05 + 1e-9
