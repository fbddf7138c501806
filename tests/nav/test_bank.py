"""Rooms of scenes: they come and go without the others being touched."""

import numpy as np
import pytest

from nav.bank import ROOMS, SceneBank
from nav.scene import Scene


@pytest.fixture
def make(walled):
    return lambda name, width: Scene(walled(name, width, 5.0), 0.18)


def holds(bank, number, scene):
    """True if what a kernel takes for a number is what the scene has."""
    begin, end = bank.cell_starts[number : number + 2]
    cells = bank.clearance[begin:end].reshape(bank.shapes[number])
    first, last = bank.geom_starts[number : number + 2]
    return (
        bank.scenes[number] is scene
        and (cells == scene.grid.clearance).all()
        and (bank.geoms.positions[first:last] == scene.geoms.positions).all()
        and (bank.geoms.kinds[first:last] == scene.geoms.kinds).all()
        and bank.frames[number].tolist() == [*scene.grid.origin, scene.grid.cell]
    )


def test_a_scene_takes_the_room_of_one_that_is_gone_and_no_other_is_touched(make):
    bank, scenes = SceneBank(), [make(f"hall{n}", 4.0 + n) for n in (2, 0, 1)]
    numbers = [bank.enter(scene) for scene in scenes]
    assert len(set(numbers)) == 3
    packed = bank.clearance
    bank.leave(numbers[1])
    assert list(bank.scenes.values()) == [scenes[0], scenes[2]]
    other = make("other", 5.5)
    before = [(n, bank.clearance[slice(*bank.cell_starts[n : n + 2])].copy()) for n in numbers[::2]]
    assert bank.enter(other) == numbers[1]
    assert bank.clearance is packed
    for number, cells in before:
        np.testing.assert_array_equal(
            bank.clearance[slice(*bank.cell_starts[number : number + 2])], cells
        )
    assert all(
        holds(bank, n, s) for n, s in zip(numbers, (scenes[0], other, scenes[2]), strict=True)
    )


def test_a_scene_stays_until_the_last_agent_has_left(make):
    bank, scene = SceneBank(), make("hall", 4.0)
    assert bank.enter(scene) == bank.enter(scene)
    number = bank.enter(scene)
    for left in (2, 1, 0):
        assert holds(bank, number, scene)
        bank.leave(number)
        assert (number in bank.scenes) == (left > 0)


def test_rooms_grow_in_size_and_number_and_keep_what_they_have(make):
    bank = SceneBank()
    scenes = [make(f"hall{n}", 3.0 + 3.0 * n) for n in range(2 * ROOMS + 1)]
    numbers = [bank.enter(scene) for scene in scenes]
    assert all(holds(bank, n, s) for n, s in zip(numbers, scenes, strict=True))
    for number in numbers:
        bank.leave(number)
    packed = bank.clearance
    again = [bank.enter(scene) for scene in scenes]
    assert bank.clearance is packed  # it does not grow once more
    assert all(holds(bank, n, s) for n, s in zip(again, scenes, strict=True))
