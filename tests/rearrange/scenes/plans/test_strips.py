import numpy as np
import pytest

from rearrange.scenes.plans.strips import (
    LENGTHS,
    Lengths,
    UnfitPlanError,
    halves,
    least_strip,
    ordered_strip,
    shuffled,
    strip_of,
)

ROOMS = ("bedroom", "bath", "bath_2")


@pytest.mark.parametrize("seed", range(20))
def test_rooms_lie_one_after_the_other_and_are_not_too_short(seed):
    lengths = Lengths(np.random.default_rng(seed))
    end = 1.0 + 1.1 * least_strip(ROOMS)
    strip = strip_of(ROOMS, 1.0, end, 2.0, 5.0, lengths)
    assert list(strip) == list(ROOMS)
    at = 1.0
    for name, (x0, y0, x1, y1) in strip.items():
        assert x0 == pytest.approx(at)
        assert (y0, y1) == (2.0, 5.0)
        assert x1 - x0 > LENGTHS[name][0] - 1e-6
        at = x1
    assert at < end + 1e-6


def test_rooms_that_do_not_fit_are_no_plan():
    lengths = Lengths(np.random.default_rng(0))
    with pytest.raises(UnfitPlanError, match="too long"):
        strip_of(ROOMS, 0.0, least_strip(ROOMS) - 0.1, 0.0, 3.0, lengths)


@pytest.mark.parametrize("seed", range(10))
def test_the_second_bath_stays_beside_the_bedroom(seed):
    rng = np.random.default_rng(seed)
    order = shuffled(("bath", "bedroom", "bedroom_2", "bath_2"), rng)
    assert sorted(order) == ["bath", "bath_2", "bedroom", "bedroom_2"]
    assert abs(order.index("bath_2") - order.index("bedroom")) == 1


@pytest.mark.parametrize("seed", range(10))
def test_halves_hold_every_room_once_and_are_about_as_long(seed):
    names = ["bedroom", "bedroom_2", "bath", "bath_2"]
    one, other = halves(names, np.random.default_rng(seed))
    assert sorted(one + other) == sorted(names)
    longest = max(LENGTHS[name][0] for name in names)
    assert abs(least_strip(one) - least_strip(other)) <= longest + 1e-6


def test_an_order_is_found_in_which_every_room_is_entered_from_the_living_room():
    rng = np.random.default_rng(0)
    lengths = Lengths(rng)
    day = {"living": (0.0, 0.0, 20.0, 4.0)}
    strip = ordered_strip(
        ROOMS, day, lambda names: strip_of(names, 0.0, 15.0, 4.0, 8.0, lengths), rng
    )
    assert sorted(strip) == sorted(ROOMS)
