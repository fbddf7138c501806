import numpy as np

from nav.buildings import load_building
from nav.categories import CATEGORIES, objects_of


def test_the_vocabulary_has_21_names():
    assert len(CATEGORIES) == len(set(CATEGORIES)) == 21
    assert (CATEGORIES[0], CATEGORIES[6], CATEGORIES[20]) == ("chair", "bed", "clothes")


def test_beds_and_wall_cupboards_of_apartments_are_things_of_their_own():
    apartment = load_building("layout3_variation00")  # a bed in the bedroom and one in the study
    things = [thing for thing in objects_of(apartment) if thing.category != "counter"]
    beds = [thing for thing in things if thing.category == "bed"]
    rooms = [apartment.rooms[name] for name in ("bedroom", "study")]
    assert len(beds) == 2
    for x0, y0, x1, y1 in rooms:
        (bed,) = (bed for bed in beds if x0 < bed.position[0] < x1 and y0 < bed.position[1] < y1)
        centers = np.array([apartment.solids[solid].position for solid in bed.solids])
        assert np.abs(centers - bed.position).max() < 1.1  # half of a bed's length
    over = [thing for thing in things if thing.name.startswith("counter")]
    assert {thing.category for thing in over} == {"cabinet"}
    assert len(over) == 2
    assert all(thing.position[2] > 1.5 for thing in over)


def test_furniture_of_generated_homes_has_categories():
    """Names of pieces that only generated homes have lead to categories, too."""
    things = objects_of(load_building("layout5000_variation00"))
    assert len({thing.name for thing in things}) == len(things)
    found = {thing.category for thing in things}
    assert found <= set(CATEGORIES)
    needed = {"sofa", "table", "chair", "bed", "counter", "sink", "cabinet", "tv_monitor"}
    assert needed <= found
    cabinets = {thing.name for thing in things if thing.category == "cabinet"}
    assert {"pantry:cabinet", "cabinet:cabinet"} <= cabinets
    (screen,) = (t for t in things if t.name.startswith("tvstand") and t.category == "tv_monitor")
    assert np.isclose(screen.position[2], 1.2, atol=0.4)
