"""View points: small scenes worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nav.agent import AgentConfig
from nav.scene import Scene
from nav.viewpoints import ViewRule, distance_over_floor, goal_places, view_points
from rearrange.scenes.pieces import box, cylinder

GREY = (0.4, 0.4, 0.4, 1.0)
AGENT = AgentConfig(field_of_view=79.0)
RULE = ViewRule.of(AGENT, 1.0)


def candidates(scene):
    """All places 0.1 m apart where the agent fits, worked out anew [C, 2]."""
    x, y = (low + 0.025 + 0.1 * np.arange(80) for low in scene.grid.origin)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return points[[scene.is_free(*point) for point in points]]


def seen_from(scene, index=0, rule=RULE):
    return {tuple(np.round(point, 3)) for point in view_points(scene, index, rule)[:, :2].tolist()}


def test_nothing_before_it_a_thing_is_seen_from_all_around(walled):
    pot = replace(cylinder(3.0, 2.5, (0.0, 1.2), 0.2, GREY), part="plant_01")
    scene = Scene(walled("hall", 6.0, 5.0, pot), AGENT.radius)
    (thing,) = scene.objects
    assert thing.category == "plant"
    away = np.hypot(*(candidates(scene) - (3.0, 2.5)).T)
    expected = candidates(scene)[away <= 1.2]
    assert seen_from(scene) == {tuple(np.round(point, 3)) for point in expected.tolist()}
    assert len(expected) > 300
    for x, y, yaw, share in view_points(scene, 0, RULE).tolist():
        assert math.atan2(2.5 - y, 3.0 - x) == pytest.approx(yaw)
        assert 0.01 <= share <= 1.0


def test_a_wall_hides_what_is_behind_it_and_its_end_does_not(walled):
    wall = box((3.5, 3.6), (0.0, 2.4), (0.0, 2.5), GREY, group=2)
    post = replace(box((3.2, 3.35), (2.5, 2.65), (0.0, 1.5), GREY), part="stool_01")
    scene = Scene(walled("hall", 6.0, 5.0, wall, post), AGENT.radius)
    seen = seen_from(scene)
    assert scene.is_free(3.925, 1.925)
    assert (3.925, 1.925) not in seen  # the line to the post meets the wall at y = 2.2
    assert (3.925, 2.625) in seen
    assert (2.925, 1.925) in seen  # on the post's side of the wall
    low = replace(wall, size=(*wall.size[:2], 0.3), position=(*wall.position[:2], 0.3))
    assert (3.925, 1.925) in seen_from(Scene(walled("hall", 6.0, 5.0, low, post), AGENT.radius))


def test_what_lies_on_the_floor_is_seen_by_looking_down(walled):
    box_ = replace(box((2.9, 3.1), (2.4, 2.6), (0.0, 0.1), GREY), part="stool_01")
    scene = Scene(walled("hall", 6.0, 5.0, box_), AGENT.radius)
    level = seen_from(scene, rule=replace(RULE, tilts=(0.0,)))
    assert level < seen_from(scene)
    # Level, the lower edge of the image meets the floor 0.88 / tan(39.5 degrees) = 1.07 m ahead, and the
    # box's far edge is 0.2 m behind its near one.
    assert min(math.dist(point, (3.0, 2.5)) for point in level) > 0.8


def test_things_of_one_category_share_their_places(walled):
    pots = [
        replace(cylinder(x, 1.0, (0.0, 1.0), 0.2, GREY), part=part)
        for x, part in ((1.5, "plant_01"), (5.0, "plant_02"))
    ]
    scene = Scene(walled("hall", 6.0, 5.0, *pots), AGENT.radius)
    places = goal_places(scene, "plant", RULE)
    assert len(places.points) == sum(len(view_points(scene, index, RULE)) for index in (0, 1))
    assert goal_places(scene, "plant", RULE) is places
    assert goal_places(scene, "sofa", RULE) is None
    starts = np.array([(1.5, 4.0), (5.0, 4.0), (1.5, 1.8)])
    assert scene.distances(starts, places) == pytest.approx([1.8, 1.8, 0.0], abs=0.08)


def test_distances_over_the_floor_by_hand():
    points = np.array([(2.0, 0.0), (0.0, 3.0), (0.1, 0.0)])
    turned = replace(box((-0.5, 0.5), (-1.0, 1.0), (0.0, 1.0), GREY), yaw=math.pi / 2)
    np.testing.assert_allclose(distance_over_floor(turned, points), [1.0, 2.5, 0.0], atol=1e-12)
    disc = cylinder(0.0, 0.0, (0.0, 1.0), 0.5, GREY)
    np.testing.assert_allclose(distance_over_floor(disc, points), [1.5, 2.5, 0.0])


@pytest.mark.parametrize(
    ("tilt", "limit", "steps"),
    [
        (30.0, 30.0, [30.0]),
        (30.0, 0.0, []),
        (30.0, 70.0, [30.0, 60.0, 70.0]),
        (0.2, 0.6, [0.2, 0.4, 0.6]),
    ],
)
def test_tilts_are_those_of_looking_up_and_down(tilt, limit, steps):
    rule = ViewRule.of(AgentConfig(tilt=tilt, tilt_limit=limit), 1.0)
    both = [angle for step in steps for angle in (-step, step)]
    assert np.degrees(rule.tilts) == pytest.approx([0.0, *both])
