"""Episodes with a robot from files: of our own, and a Panda of robosuite that nobody here made."""

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.robot import find_robot, registry, unregister_robot
from rearrange.sim import SimulatorConfig
from skills.players import OraclePlayer
from skills.settings import SkillEnvironments
from tests.helpers import ROOT
from tests.helpers.file_robot import write_robot

PANDA = str(ROOT / "examples" / "panda.yaml")
there = pytest.mark.skipif(
    find_spec("robosuite") is None, reason="pip install --no-deps robosuite brings the Panda"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = str(write_robot(tmp_path_factory.mktemp("ibis"), "ibis"))
    yield found
    find_robot(found)
    unregister_robot("ibis")
    registry._register_file.cache_clear()


def test_a_world_has_its_sizes(path):
    env = RearrangeEnv("pick", simulator=SimulatorConfig(robot=path, camera_size=16))
    observation, _ = env.reset(seed=0)
    assert env.robot.name == "ibis"
    assert observation["joint"].shape == (5,)
    observation, *_ = env.step(env.action_space.sample())
    assert env.observation_space.contains(observation)


def test_an_oracle_picks_with_it(path):
    player = OraclePlayer("pick", "val", robot=path)
    assert player.play(0, None)["success"] == 1.0


def test_a_policy_brings_its_path(path):
    metadata = {"skill": "pick", "camera_size": 16, "robot": path, "task": {}}
    environments = SkillEnvironments.from_metadata(metadata, "val")
    assert environments(0, 0).robot.name == "ibis"


@pytest.mark.slow
def test_another_process_finds_it_by_its_path(path):
    code = f"from rearrange.robot import find_robot; print(find_robot({path!r}).joint_names)"
    run = [sys.executable, "-c", code]
    told = subprocess.run(run, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True)
    assert "'elbow'" in told.stdout


@there
def test_the_panda_has_the_kinematics_of_its_model():
    from rearrange.robot.files import read_robot
    from rearrange.robot.kinematics import forward

    found = read_robot(ROOT / "examples" / "panda.yaml")
    for joints in np.random.default_rng(0).uniform(*found.spec.limits, (20, 7)):
        found.source.pose(found.chain.theirs(joints))
        foot, along = found.source.cup()
        assert forward(found.spec, joints)[0] == pytest.approx(foot + along * 0.1, abs=1e-9)


@there
def test_an_oracle_picks_with_a_panda():
    try:
        assert OraclePlayer("pick", "val", robot=PANDA).play(0, None)["success"] == 1.0
    finally:
        unregister_robot("panda")
        registry._register_file.cache_clear()
