import pytest

from rearrange.errors import UserError
from rearrange.sim.backends import SIMULATORS, check_simulator_name, make_simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator


def test_a_simulator_is_made_by_its_name():
    simulator = make_simulator("mujoco", 2, SimulatorConfig(camera_size=8))
    assert isinstance(simulator, MujocoSimulator)
    assert simulator.state.base_pose.shape == (2, 3)


def test_unknown_names_are_refused_with_those_that_there_are():
    assert [check_simulator_name(name) for name in SIMULATORS] == list(SIMULATORS)
    for ask in (check_simulator_name, make_simulator):
        with pytest.raises(UserError, match="unknown simulator 'moon': choose one of mujoco, hab"):
            ask("moon")
