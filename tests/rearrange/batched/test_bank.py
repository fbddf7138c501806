"""Homes stacked on one model: what differs is there, what is only seen is out of reach."""

import numpy as np
import pytest

from rearrange.batched.bank import DEEP, make_bank
from rearrange.errors import UserError
from rearrange.robot import find_robot
from rearrange.sim.apartment_model import load_apartment
from rearrange.sim.config import SimulatorConfig

HOMES = ((0, 0), (3, 2))


@pytest.fixture(scope="module")
def bank():
    return make_bank(HOMES, SimulatorConfig(), find_robot())


def test_rows_are_the_homes_own(bank):
    for row, home in enumerate(HOMES):
        model = load_apartment(*home, find_robot()).model
        np.testing.assert_array_equal(bank.fields["geom_size"][row], model.geom_size)
        solid = model.geom_contype != 0
        np.testing.assert_array_equal(bank.fields["geom_pos"][row][solid], model.geom_pos[solid])
        assert bank.index_of(*home) == row


def test_what_is_solid_in_another_home_only_is_far_below(bank):
    parked = 0
    for row, home in enumerate(HOMES):
        model = load_apartment(*home, find_robot()).model
        unsolid = (model.geom_contype == 0) & (bank.model.geom_contype != 0)
        assert (bank.fields["geom_pos"][row][unsolid, 2] <= -DEEP).all()
        assert (bank.poses["geom_xpos"][row][unsolid, 2] <= -DEEP).all()
        assert (load_apartment(*home, find_robot()).model.geom_pos[unsolid, 2] > -DEEP).all()
        parked += unsolid.sum()
    assert parked > 0


def test_floors_lie_one_after_another(bank):
    for row, home in enumerate(HOMES):
        clearance = load_apartment(*home, find_robot()).grid.clearance
        start, shape = bank.floor_starts[row], bank.floor_shapes[row]
        found = bank.floors[start : start + shape.prod()].reshape(shape)
        np.testing.assert_array_equal(found, clearance)


def test_other_homes_are_refused(bank):
    with pytest.raises(UserError, match="layout 4, variation 0 is none of the bank's 2 homes"):
        bank.index_of(4, 0)
    with pytest.raises(UserError, match="at least one home"):
        make_bank((), SimulatorConfig(), find_robot())
