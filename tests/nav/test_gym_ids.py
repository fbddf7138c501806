import gymnasium

from nav.gym_ids import IDS, gym_id, register_name
from nav.table import all_tasks


def test_ids_are_those_of_the_tasks():
    assert set(IDS) == set(all_tasks())
    assert gym_id("pointnav") == "rearrange/PointNav-v0"
    assert gym_id("range_nav") == "rearrange/RangeNav-v0"


def test_a_name_is_registered_once():
    try:
        register_name("dark_corner")
        spec = gymnasium.registry["rearrange/DarkCorner-v0"]
        register_name("dark_corner")
        assert gymnasium.registry["rearrange/DarkCorner-v0"] is spec
        assert spec.entry_point == "nav.registration:make"
    finally:
        gymnasium.registry.pop("rearrange/DarkCorner-v0", None)
