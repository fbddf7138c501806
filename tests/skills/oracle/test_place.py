import numpy as np

from rearrange.navigation import load_layout
from rearrange.scenes.objects import OBJECT_KINDS
from skills.oracle import PlaceOracle
from skills.oracle.place import face_towards
from tests.helpers.oracle_runs import run

CRACKERS = OBJECT_KINDS["003_cracker_box"]
CAN = OBJECT_KINDS["005_tomato_soup_can"]


def test_face_that_a_cup_holds():
    half_x, half_y, half_z = CRACKERS.parts[0].size
    for point, normal in (
        ((half_x, 0.02, 0.03), (1, 0, 0)),
        ((0.01, -half_y, 0.03), (0, -1, 0)),
        ((0.01, 0.02, half_z), (0, 0, 1)),
    ):
        np.testing.assert_allclose(face_towards(CRACKERS, np.array(point)), normal)
    side = face_towards(CAN, np.array([0.0, -CAN.footprint_radius, 0.02]))
    np.testing.assert_allclose(side, [0.0, -1.0, 0.0])


def test_place_without_an_object_gives_up(env):
    env.reset(seed=0)
    target = env.episode.targets[0]
    _, grid = load_layout(env.episode.layout, env.episode.variation)
    place = PlaceOracle(grid)
    run(env, place, target.slot, target.goal)
    assert place.failure
