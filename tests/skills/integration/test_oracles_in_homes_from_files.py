"""Oracles in a home from files, see tests/helpers/file_home.py."""

import pytest

from rearrange.env import RearrangeEnv
from rearrange.sim import SimulatorConfig
from skills.oracle.skill import ORACLE_TIMEOUT, OracleSkill
from skills.players import argument_of
from tests.helpers.file_home import FURNITURE, hung_the_other_way, known_home


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with known_home(tmp_path_factory.mktemp("lodge"), "lodge") as found:
        yield found


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory):
    furniture = hung_the_other_way(FURNITURE)
    with known_home(tmp_path_factory.mktemp("annexe"), "annexe", furniture) as found:
        yield found


@pytest.mark.parametrize("task", ["pick", "place", "open_cab", "open_fridge", "close_fridge"])
def test_its_things_are_moved(path, task):
    its_things_are_moved(path, task)


@pytest.mark.parametrize("task", ["open_fridge", "close_fridge"])
def test_a_door_opens_clockwise(mirrored, task):
    its_things_are_moved(mirrored, task)


def its_things_are_moved(path, task):
    env = RearrangeEnv(task, split="val", simulator=SimulatorConfig(camera_size=8), homes=path)
    env.reset(seed=0)
    oracle, done, steps = OracleSkill(task), False, 0
    oracle.reset(env, argument_of(task, env.episode))
    while not done and steps < ORACLE_TIMEOUT:
        env.simulator.step(oracle.act(env)[None])
        done, steps = oracle.done(env), steps + 1
    assert done
    state, slot = env.state, env.episode.targets[0].slot
    if task == "pick":
        assert state.held_object[0] == slot
    elif task == "place":
        assert state.held_object[0] == -1
        assert state.object_position[0, slot] == pytest.approx(
            env.episode.targets[0].goal, abs=0.15
        )
    else:
        scene = state.scene
        part = scene.part(env.episode.target_joint)
        value = state.articulated_joints[0, scene.index(part.name)]
        assert value > part.opened_beyond if task.startswith("open") else value < 0.05
