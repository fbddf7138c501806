"""`benchmarks.world --apartments`: what new apartments cost."""

import pytest

from benchmarks import world
from rearrange.errors import UserError
from rearrange.scenes.generator import generate_apartment


def test_new_apartments_are_timed_by_part():
    generate_apartment.cache_clear()
    figures = world.measure_apartments("val", 3)
    assert figures["count"] == 3
    parts = [figures[f"{part}_ms"] for part in world.PARTS]
    assert min(parts) > 0.0
    assert sum(parts) == pytest.approx(figures["total_ms"])
    assert figures["total_p95_ms"] >= figures["total_ms"]


def test_number_of_apartments_has_bounds():
    with pytest.raises(UserError, match=r"--apartments must be 0 to 100 in val"):
        world.main(["pick", "--split", "val", "--apartments", "101"])
