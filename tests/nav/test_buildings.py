"""Buildings by name: the homes of the rearrangement tasks."""

import pytest

from nav.agent import AgentConfig
from nav.buildings import PLANS, building_names, find_building, load_building, split_of
from nav.scene import Scene
from rearrange import UserError
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.registry import CLASSIC, GENERATED

SPLITS = ("train", "val", "test")


@pytest.mark.parametrize(
    ("homes", "counts"), [(CLASSIC, [189, 21, 21]), (GENERATED, [PLANS, 100, 100])]
)
def test_splits_are_apart_and_names_tell_theirs(homes, counts):
    names = {split: building_names(homes, split) for split in SPLITS}
    assert [len(names[split]) for split in SPLITS] == counts
    assert len({name for split in SPLITS for name in names[split]}) == sum(counts)
    for split in SPLITS:
        assert {split_of(name) for name in names[split]} == {split}


def test_generated_buildings_are_all_of_different_plans():
    names = [name for split in SPLITS for name in building_names(GENERATED, split)]
    assert len({name.partition("_")[0] for name in names}) == len(names)


def test_names_lead_to_buildings():
    for name in ("layout4_variation20", "layout5199_variation00"):
        assert find_building(name)
    for name in (
        "floor24_variation0", "layout11_variation00", "Adrian",
        "layout5200_variation00", "layout5000_variation21", "layout05000_variation00",
    ):  # fmt: skip
        assert not find_building(name)
        with pytest.raises(UserError, match="unknown building"):
            load_building(name)
    with pytest.raises(
        UserError, match=r"homes must be one of classic, generated, .*, not 'gibson'"
    ):
        building_names("gibson", "val")
    with pytest.raises(UserError, match="split must be one of train, val, test, not 'dev'"):
        building_names(CLASSIC, "dev")


def test_the_same_name_is_the_same_building_and_variations_differ():
    first = load_building("layout5000_variation00")
    load_building.cache_clear()
    generate_apartment.cache_clear()
    again = load_building("layout5000_variation00")
    assert again is not first
    assert again == first
    other = load_building("layout5000_variation01")
    assert other.solids != first.solids
    assert other.rooms == first.rooms


def test_the_agent_gets_into_every_room_of_a_generated_home():
    building = load_building("layout5000_variation00")
    scene = Scene(building, AgentConfig().radius)
    x, y = scene.cells.T
    for x0, y0, x1, y1 in building.rooms.values():
        within = ((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)).sum() * scene.grid.cell**2
        assert within > 0.1 * (x1 - x0) * (y1 - y0)
    assert all(scene.is_free(*point) for point in scene.landmarks)
    assert scene.island.sum() > 0.95 * (scene.grid.clearance >= scene.radius).sum()


def test_fridge_and_cabinet_of_a_generated_home_are_closed():
    building = load_building("layout5000_variation00")
    fridge, cabinet = building.solids[-2:]
    assert fridge.size == pytest.approx((0.34, 0.35, 0.88))
    assert cabinet.size[2] == pytest.approx(0.45)
    scene = Scene(building, AgentConfig().radius)
    for solid in (fridge, cabinet):
        assert scene.grid.clearance_at(*solid.position[:2]) < 0.0
