"""Apartments of ours with objects from files."""

from dataclasses import replace

import pytest

from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.registry import check_homes, layouts_of, spec_of_layout, split_of_layout
from tests.helpers.file_objects import WORDS, known_objects, write_objects


@pytest.mark.parametrize(("homes", "number"), [("generated", 5003), ("classic", 3)])
def test_they_are_ours_by_other_numbers(tmp_path, homes, number):
    with known_objects(tmp_path, f"homes: {homes}\n{WORDS}") as spec:
        first = layouts_of("val", "larder")[0] - layouts_of("val", homes)[0]
        apartment = generate_apartment(first + number, 2)
        assert replace(apartment, layout=number) == generate_apartment(number, 2)
        assert spec_of_layout(first + number) is spec
        assert split_of_layout(first + number) == "val"
        assert spec_of_layout(number) is APARTMENT


def test_only_the_objects_are_others(tmp_path):
    with known_objects(tmp_path) as spec:
        assert spec.slot_kinds == ("angle",) * 4 + ("carton",) * 3
        assert spec.receptacles == APARTMENT.receptacles
        assert spec.furniture is APARTMENT.furniture
        assert len(layouts_of("train", "larder")) == 4000


def test_their_path_is_a_name_of_homes(tmp_path):
    path = str(write_objects(tmp_path))
    with known_objects(tmp_path):
        assert check_homes(path) == "larder"
