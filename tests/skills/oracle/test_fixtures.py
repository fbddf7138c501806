import numpy as np
import pytest

from rearrange.navigation import load_layout
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim.base import NOTHING
from skills.oracle.fixtures import Fixture
from skills.oracle.obstacles import obstacles_of
from skills.oracle.reach import to_base


@pytest.mark.parametrize("joint", APARTMENT.joints)
def test_fixtures_agree_with_the_simulator(worlds, joint):
    env = worlds("tidy_house")
    env.reset(seed=5)
    index = APARTMENT.joints.index(joint)
    env.simulator.data[0].qpos[env.simulator.worlds[0].joint_qpos[index]] = 0.3
    env.simulator.step(np.zeros((1, 10)))
    apartment, _ = load_layout(env.episode.layout, env.episode.variation)
    fixture = Fixture.of(apartment, joint)
    opening = float(env.state.articulated_joints[0, index])
    assert opening > 0.2
    depth = 0.0175 * np.array([*fixture.outward(opening), 0.0])  # half of a handle's thickness
    assert fixture.handle(opening) - depth == pytest.approx(env.state.handle_position[0, index])
    obstacles = obstacles_of(apartment, env.state, NOTHING)
    parts = fixture.boxes(opening)
    assert len(obstacles.boxes) - len(fixture.without(obstacles, opening).boxes) == len(parts)
    assert len(obstacles.opened) == len(parts)
    assert len(fixture.without(obstacles, opening).opened) == 0


def test_a_pose_carried_along_keeps_its_place_before_the_handle(worlds):
    env = worlds("tidy_house")
    env.reset(seed=5)
    apartment, _ = load_layout(env.episode.layout, env.episode.variation)
    for joint, opening in (("fridge_door", 1.2), ("drawer_bottom", 0.4)):
        fixture = Fixture.of(apartment, joint)
        pose = np.array([*(fixture.handle(0.0)[:2] + 0.8 * fixture.outward(0.0)), 0.3])
        moved = fixture.carried(pose, 0.0, opening)
        assert to_base(moved, fixture.handle(opening)) == pytest.approx(
            to_base(pose, fixture.handle(0.0))
        )
