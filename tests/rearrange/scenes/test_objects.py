"""Household objects: half heights, masses, slots."""

import pytest

from rearrange.scenes import OBJECT_KINDS, build_spec, generate_apartment, half_height
from rearrange.scenes.apartment_kind import APARTMENT


def test_thirty_slots_hold_what_the_tasks_need():
    assert len(APARTMENT.slot_kinds) == 30
    assert APARTMENT.slot_kinds.count("013_apple") == 1
    assert APARTMENT.slot_kinds.count("024_bowl") == 4
    assert all(
        APARTMENT.slot_kinds.count(kind) >= 3 for kind in OBJECT_KINDS if kind != "013_apple"
    )


@pytest.mark.parametrize("kind", OBJECT_KINDS)
def test_half_height_and_footprint_fit_the_parts(kind):
    item = OBJECT_KINDS[kind]
    low = min(
        p.height - (p.size[1] if p.kind == "cylinder" else p.size[2])
        for p in item.parts
        if p.collides
    )
    assert half_height(kind) == pytest.approx(-low, abs=1e-9)
    for part in item.parts:
        radius = (
            part.size[0]
            if part.kind == "cylinder"
            else (part.size[0] ** 2 + part.size[1] ** 2) ** 0.5
        )
        assert radius <= item.footprint_radius + 1e-9


def test_masses_are_those_of_ycb():
    model = build_spec(generate_apartment(0, 0)).compile()
    for slot, kind in enumerate(APARTMENT.slot_kinds):
        assert model.body(f"object_{slot:02d}").mass[0] == pytest.approx(OBJECT_KINDS[kind].mass)
