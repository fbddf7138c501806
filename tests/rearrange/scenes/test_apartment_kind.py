from rearrange.scenes import APARTMENT
from rearrange.scenes.registry import CLASSIC, GENERATED, spec_of_homes, spec_of_layout


def test_both_collections_of_apartments_are_of_one_kind():
    assert spec_of_homes(CLASSIC) is spec_of_homes(GENERATED) is APARTMENT
    assert spec_of_layout(0) is spec_of_layout(5000) is APARTMENT


def test_what_episodes_and_checkpoints_rely_on():
    assert len(APARTMENT.objects) == 30
    assert APARTMENT.joints == (
        "fridge_door", "drawer_right_top", "drawer_left_top", "drawer_middle", "drawer_bottom",
    )  # fmt: skip
    assert APARTMENT.closed_receptacles == ("fridge_middle", "drawer_right_top")
