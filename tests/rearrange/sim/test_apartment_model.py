import dataclasses

import numpy as np

from rearrange.robot.fetch import FETCH
from rearrange.sim.apartment_model import ApartmentModel, load_apartment

SIZES = ("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "neq", "nmocap", "ntree", "nexclude")


def test_all_apartments_share_one_topology():
    worlds = [load_apartment(layout, 0, FETCH) for layout in (3, 4, 0)]
    first = worlds[0]
    for world in worlds[1:]:
        for size in SIZES:
            assert getattr(world.model, size) == getattr(first.model, size), size
        for field in dataclasses.fields(ApartmentModel):
            if field.name not in ("apartment", "model", "options", "geoms", "grid", "clearance"):
                expected = getattr(first, field.name)
                np.testing.assert_array_equal(getattr(world, field.name), expected, field.name)
        for kind in (
            "body_parentid",
            "jnt_type",
            "geom_bodyid",
            "eq_type",
            "eq_obj1id",
            "eq_obj2id",
        ):
            np.testing.assert_array_equal(
                getattr(world.model, kind), getattr(first.model, kind), kind
            )
