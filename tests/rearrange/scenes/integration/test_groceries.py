"""Episodes with objects that nobody here made: groceries of robosuite in our apartments."""

from importlib.util import find_spec

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.robot import find_robot
from rearrange.scenes import registry
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.sim.rest import drift
from rearrange.tasks import make_task
from rearrange.tasks.sampling import source_of
from skills.players import OraclePlayer
from tests.helpers import ROOT
from tests.helpers.file_objects import write_objects

GROCERIES = str(ROOT / "examples" / "groceries.yaml")
there = pytest.mark.skipif(
    find_spec("robosuite") is None, reason="pip install --no-deps robosuite brings the groceries"
)


@pytest.fixture(scope="module", params=["own", pytest.param("groceries", marks=there)])
def homes(request, tmp_path_factory):
    path = GROCERIES
    if request.param == "own":
        path = str(write_objects(tmp_path_factory.mktemp("pantry"), name="pantry"))
    spec = registry.spec_of_homes(path)
    yield path
    registry._register_file.cache_clear()
    registry.unregister_homes(spec)


def test_what_stands_in_a_start_stays_there(homes):
    scene = registry.spec_of_homes(homes)
    task = make_task("pick", None, 1, find_robot("fetch"), scene)
    simulator, rng = MujocoSimulator(1, scene=scene), np.random.default_rng(0)
    for _ in range(2):
        episode = task.sample_episode(source_of("val", homes), rng)
        assert len(episode.objects) > 4
        assert drift(simulator, episode) < 0.002


def test_they_are_seen_by_the_policy(homes):
    env = RearrangeEnv("pick", homes=homes, simulator=SimulatorConfig(camera_size=32))
    first = env.reset(seed=0)[0]["head_depth"]
    world = env.simulator.worlds[0]
    assert world is not None
    assert world.geoms.meshes is not None
    assert first.shape == (32, 32, 1)
    assert (first < 1.0).any()


def test_an_oracle_picks_one(homes):
    assert any(OraclePlayer("pick", "val", homes=homes).play(k, None)["success"] for k in range(2))
