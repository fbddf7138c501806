"""`benchmarks.world --apartments`: what new apartments cost."""

import json

import pytest

from benchmarks import world
from rearrange.errors import UserError
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.registry import GENERATED, layouts_of


def test_new_apartments_are_timed_by_part():
    generate_apartment.cache_clear()
    figures = world.measure_apartments("val", 3)
    assert figures["count"] == 3
    parts = [figures[f"{part}_ms"] for part in world.PARTS]
    assert min(parts) > 0.0
    assert sum(parts) == pytest.approx(figures["total_ms"])
    assert figures["total_p95_ms"] >= figures["total_ms"]


@pytest.mark.slow
def test_apartments_are_new_although_this_process_has_made_them(tmp_path, monkeypatch):
    for layout in layouts_of("val", GENERATED)[:2]:
        generate_apartment(layout, 0)
    monkeypatch.setattr(world, "measure", lambda task, options: {})
    monkeypatch.setattr(world, "show", lambda record: None)
    path = tmp_path / "world.json"
    assert world.main(["pick", "--apartments", "1", "--json", str(path)]) == 0
    figures = json.loads(path.read_text())["apartments"]
    assert (
        min(figures[f"{part}_ms"] for part in world.PARTS[:2]) > 0.2
    )  # what is kept takes microseconds


def test_number_of_apartments_has_bounds():
    with pytest.raises(UserError, match=r"--apartments must be 0 to 100 in val"):
        world.main(["pick", "--split", "val", "--apartments", "101"])
