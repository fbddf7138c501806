"""What the simulator does otherwise under HAB's rules."""

import dataclasses

import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.robot.parts import SOFTNESS
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.apartment_model import hard_apartment, load_apartment
from rearrange.sim.contacts import ROBOT, SUCTION
from rearrange.testing.tools import in_the_open, one_action

SMALL = SimulatorConfig(camera_size=8)


def simulator_of(episode, **changes):
    simulator = MujocoSimulator(1, dataclasses.replace(SMALL, **changes))
    simulator.reset([0], [episode])
    return simulator


def test_what_falls_counts_in_the_scene_and_not_on_the_robot(pick_episodes):
    episode = dataclasses.replace(in_the_open(FETCH, pick_episodes[0]), held_slot=0)
    largest = []
    for scene_force in (False, True):
        simulator = simulator_of(episode, scene_force=scene_force)
        assert simulator.state.contact_force[0] == 0.0
        forces = []
        for _ in range(30):  # what is let go falls to the floor
            simulator.step(one_action(simulator, grip=-1.0))
            forces.append(simulator.state.contact_force[0])
        assert simulator.state.object_position[0, 0, 2] < 0.3
        largest.append(max(forces))
    assert largest[0] == 0.0
    assert largest[1] > 10.0


def test_hard_contacts_leave_the_shared_model_alone_and_push_back_harder(pick_episodes):
    episode = pick_episodes[0]
    soft, hard = (
        load(episode.layout, episode.variation, FETCH) for load in (load_apartment, hard_apartment)
    )
    robot = (soft.roles == ROBOT) | (soft.roles == SUCTION)
    np.testing.assert_array_equal(soft.model.geom_solref[robot], [SOFTNESS] * robot.sum())
    np.testing.assert_array_equal(hard.model.geom_solref[robot], [(0.02, 1.0)] * robot.sum())
    rest = np.delete(np.arange(soft.model.ngeom), np.flatnonzero(robot))
    np.testing.assert_array_equal(soft.model.geom_solref[rest], hard.model.geom_solref[rest])
    assert hard_apartment(episode.layout, episode.variation, FETCH) is hard


@pytest.mark.parametrize(("lead", "most"), [(0.15, 0.15), (float("inf"), 3.3)])
def test_a_target_runs_ahead_of_a_held_up_arm_only_under_habs_rules(pick_episodes, lead, most):
    """The first joint is asked for more than its motor does in a step, twenty times."""
    simulator = simulator_of(in_the_open(FETCH, pick_episodes[0]), target_lead=lead)
    ahead = []
    for _ in range(20):
        simulator.step(one_action(simulator, np.array([0.3, 0, 0, 0, 0, 0, 0])))
        ahead.append(simulator._arm_targets[0, 0] - simulator.state.arm_joints[0, 0])
    highest = FETCH.joints[0].high
    assert simulator._arm_targets[0, 0] <= highest
    assert max(ahead) <= most + 1e-9
    assert (max(ahead) > 0.2) == (lead > 1.0)
