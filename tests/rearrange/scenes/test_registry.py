import pytest

from rearrange.errors import UserError
from rearrange.scenes import (
    VARIATION_COUNT,
    apartments_of_split,
)
from rearrange.scenes.floor_plans import FLOOR_PLANS
from rearrange.scenes.registry import (
    CLASSIC,
    GENERATED,
    KEPT_COUNT,
    LAYOUTS_OF,
    kept_by_apartment,
    layouts_of,
    split_of_layout,
)

LAYOUTS = range(len(FLOOR_PLANS))
ALL = [(layout, variation) for layout in LAYOUTS for variation in range(VARIATION_COUNT)]
SPLITS = LAYOUTS_OF[GENERATED]


def test_splits_by_layout():
    assert [len(apartments_of_split(split, CLASSIC)) for split in ("train", "val", "test")] == [
        189,
        21,
        21,
    ]
    everything = [
        a for split in ("train", "val", "test") for a in apartments_of_split(split, CLASSIC)
    ]
    assert sorted(everything) == ALL
    with pytest.raises(UserError, match="split"):
        apartments_of_split("training")


def test_classic_apartments_are_kept_and_the_last_of_the_generated_ones():
    made = []

    @kept_by_apartment
    def make(layout: int, variation: int) -> tuple[int, int]:
        made.append((layout, variation))
        return layout, variation

    classic = [(layout, v) for layout in (0, 3, 4) for v in range(VARIATION_COUNT)]
    generated = [(layout, 0) for layout in range(1000, 1000 + KEPT_COUNT + 1)]
    for place in (*classic, *generated):
        assert make(*place) == place
    made.clear()
    for place in (*classic, *generated[1:]):
        make(*place)
    assert made == []
    make(*generated[0])
    assert made == [generated[0]]
    make.cache_clear()
    make(0, 0)
    assert made[-1] == (0, 0)


def test_splits_by_number():
    assert [len(SPLITS[split]) for split in ("train", "val", "test")] == [4000, 100, 100]
    assert [split_of_layout(layout) for layout in (0, 3, 4, 1000, 4999, 5000, 5100, 5199)] == [
        "train", "val", "test", "train", "train", "val", "test", "test",
    ]  # fmt: skip
    assert split_of_layout(999) is split_of_layout(5200) is None
    with pytest.raises(UserError, match="classic, generated"):
        layouts_of("val", "modern")
