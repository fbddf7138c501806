import math
from types import SimpleNamespace

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.render import Camera, look_at, render_depth
from rearrange.robot.fetch import FETCH
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import PickConfig, PlaceConfig
from rearrange.tasks.glimpse import FINE, GLIMPSE, HALF, RELIEF, UNKNOWN, glimpses
from skills.knowledge.policy import PolicySenses

SIZE = 64
EYE = np.array(FETCH.camera.position)
TURN = look_at(EYE, FETCH.camera.target)
CONFIGS = {"pick": PickConfig(glimpse=True), "place": PlaceConfig(glimpse=True)}


def over(height):
    """A simulator of one world, whose robot stands at the origin before an endless surface this high [m]."""
    rays = Camera(FINE, FINE, FETCH.camera.field_of_view).rays() @ TURN.T
    with np.errstate(divide="ignore"):
        depth = np.where(rays[..., 2] < 0.0, (height - EYE[2]) / rays[..., 2], 10.0)
    return SimpleNamespace(
        state=SimpleNamespace(robot=FETCH, base_pose=np.zeros((1, 3))),
        render_depth=lambda size, ids: np.minimum(depth, 10.0)[None].astype(np.float32),
    )


def glimpse(simulator, point):
    return glimpses(simulator, np.array([point]), SIZE, np.arange(1))[0, ..., 0]


@pytest.mark.parametrize("point", [(1.2, 0.0, 0.7), (0.9, 0.3, 0.7), (2.0, -0.5, 0.7)])
def test_a_surface_rises_towards_the_lower_edge_as_steeply_as_it_is_seen(point):
    seen = glimpse(over(0.7), point)
    distance = float(np.linalg.norm(point - EYE))
    down = (EYE[2] - point[2]) / distance  # sine of the angle at which the point is looked down at
    middle = seen[SIZE // 2 - 1 : SIZE // 2 + 1].mean()
    assert middle == pytest.approx(0.5, abs=0.03)
    # A ray that is lower by t meets the surface after sin / (sin + t cos) of the distance
    for row in (20, 44):
        t = (1.0 - (2 * row + 1) / SIZE) * HALF / distance
        rise = -t * math.sqrt(1.0 - down * down)
        nearer = distance * rise / (down + rise)
        expected = min(max(0.5 - nearer / (2 * RELIEF), 0.0), 1.0)
        assert seen[row, 8:56].mean() == pytest.approx(expected, abs=0.03)


def test_what_stands_out_by_centimetres_is_seen_and_as_large_from_everywhere():
    for away in (0.8, 1.6):
        low, high = (glimpse(over(height), (away, 0.0, 0.7)).mean() for height in (0.7, 0.75))
        assert low - high > 0.1


def test_what_the_camera_does_not_see_is_unknown():
    simulator = over(0.5)
    assert (glimpse(simulator, (-1.0, 0.0, 0.5)) == UNKNOWN).all()
    edge = glimpse(simulator, (1.0, 1.0, 0.5))  # left of the view in part
    assert (edge[:, 0] == UNKNOWN).all()
    assert (edge[:, -1] < UNKNOWN).any()


@pytest.mark.parametrize("name", ["pick", "place"])
def test_it_is_what_a_camera_with_a_longer_lens_would_see(name):
    env = RearrangeEnv(name, CONFIGS[name], "val", SimulatorConfig(camera_size=SIZE))
    compared = 0
    for seed in range(12):
        observation, _ = env.reset(seed=seed)
        assert observation in env.observation_space
        target, simulator = env.episode.targets[0], env.simulator
        point = np.array(target.start if name == "pick" else target.goal)
        eye, _ = simulator.camera_pose(0)
        distance = float(np.linalg.norm(point - eye))
        lens = Camera(SIZE, SIZE, 2.0 * math.degrees(math.atan(HALF / distance)))
        world, data = simulator.worlds[0], simulator.data[0]
        place = (data.geom_xpos, data.geom_xmat, lens, eye, look_at(eye, point))
        exact = 0.5 + (render_depth(world.geoms, *place) - distance) / (2 * RELIEF)
        seen = observation[GLIMPSE][..., 0]
        both = seen < UNKNOWN
        if both.mean() > 0.3:
            compared += 1
            off = np.abs(seen - np.clip(exact, 0.0, 1.0))[both]
            assert np.median(off) < 0.03
            assert np.mean(off < 0.1) > 0.9
    assert compared > 3
    env.close()


def test_a_policy_in_the_world_of_a_chore_sees_the_same():
    env = RearrangeEnv("pick", CONFIGS["pick"], "val", SimulatorConfig(camera_size=SIZE))
    observation, _ = env.reset(seed=3)
    senses = PolicySenses(type(env.task)(CONFIGS["pick"]), SIZE)
    senses.begin(env, env.episode)
    np.testing.assert_array_equal(senses.observe(env)[GLIMPSE][0], observation[GLIMPSE])
    env.close()
