import numpy as np

from rearrange.navigation.footprints import tall_footprints_of
from rearrange.scenes.apartment import Solid


def test_only_what_spans_the_arms_heights_is_tall(make_grid):
    low = Solid("box", (2.0, 2.0, 0.6), (0.2, 0.2, 0.6))
    lintel = Solid("box", (3.0, 2.0, 2.0), (0.2, 0.2, 0.3))
    rug = Solid("box", (4.0, 2.0, 1.0), (0.2, 0.2, 1.0), collides=False)
    tall = Solid("cylinder", (5.0, 2.0, 0.9), (0.1, 0.9, 0.0))
    found = tall_footprints_of(make_grid(low, lintel, rug, tall).apartment)
    np.testing.assert_allclose(found, [(5.0, 2.0, 0.0, 0.0, 0.0, 0.1)])
