"""The Habitat simulator on the real habitat-sim; skipped, with the reason, where it is not installed."""

import dataclasses
import math
import os
import time

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.habitat import simulator as habitat
from rearrange.habitat.simulator import HabitatSimulator
from rearrange.navigation import ROBOT_RADIUS, distance_field, load_layout
from rearrange.render import look_at
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.apartment_model import load_apartment
from rearrange.sim.base import NOTHING
from rearrange.tasks import make_task
from rearrange.testing import check_simulator, conformance
from rearrange.testing.tools import in_the_open, one_action, snapshot
from tests.helpers.door_opening import open_door

pytestmark = [pytest.mark.habitat, pytest.mark.slow]
CONFIG = SimulatorConfig(camera_size=64)


def make_simulator(world_count):
    return HabitatSimulator(world_count, CONFIG)


@pytest.fixture
def simulator():
    made = make_simulator(1)
    yield made
    made.close()


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract(check, pick_episodes):
    check(make_simulator, pick_episodes)


def test_every_check_is_run():
    assert check_simulator.__module__ == "rearrange.testing.conformance"
    assert len(conformance.CHECKS) == 12


def memory(pid):
    """Resident memory of a process [MiB]."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.parametrize("task", ["pick", "place", "navigate", "open_fridge", "close_fridge"])
def test_a_thousand_random_steps_of_a_task_leak_nothing(task, one_variation):
    env = RearrangeEnv(task, simulator=make_simulator(1), seed=0)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    grown, started, resets = [], [], 0
    for _ in range(1000):
        action = rng.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        assert np.isfinite(reward)
        assert all(env.observation_space[key].contains(observation[key]) for key in observation)
        if terminated or truncated:
            env.reset()
            resets += 1
        (pid,) = env.simulator.engine_ids()
        started.append(pid)
        grown.append(memory(pid))
    env.close()
    assert len(set(started)) == 1, "the engine was started anew"
    print(f"{task}: {resets} resets, {grown[200]:.0f} MiB, then {grown[-1]:.0f} MiB")
    assert grown[-1] - grown[200] < 30.0, f"{grown[200]:.0f} MiB became {grown[-1]:.0f} MiB"
    assert not os.path.exists(f"/proc/{started[0]}")


def test_many_resets_leak_nothing(simulator, pick_episodes):
    sizes = []
    for k in range(60):
        simulator.reset([0], [pick_episodes[k % 2]])
        simulator.render_depth()
        sizes.append(memory(simulator.engine_ids()[0]))
    print(f"{sizes[20]:.0f} MiB after 20 resets, {sizes[-1]:.0f} MiB after 60")
    assert sizes[-1] - sizes[20] < 30.0


def test_depth_agrees_with_geometry_at_known_points(simulator, pick_episodes):
    """A wall ahead, the floor below: what the apartment's plan says, pixel by pixel."""
    reference = MujocoSimulator(1, CONFIG)
    for episode in pick_episodes:
        for yaw in (0.0, 1.5):
            start = in_the_open(FETCH, episode, yaw)
            simulator.reset([0], [start])
            reference.reset([0], [start])
            seen, cast = simulator.render_depth()[0], reference.render_depth()[0]
            agree = np.abs(seen - cast) < 0.02
            assert agree.mean() > 0.97, f"{agree.mean():.1%} of the pixels agree"
    grid = load_layout(start.layout, start.variation)[1]
    assert grid.clearance_at(*start.base_pose[:2]) > 0.5


def test_depth_of_a_point_on_an_object_is_its_distance_along_the_optical_axis(
    simulator, pick_episodes
):
    episode = pick_episodes[0]
    slot, pose = next(iter(episode.objects.items()))
    base = in_the_open(FETCH, episode).base_pose
    rotation = look_at(FETCH.camera.position, FETCH.camera.target)
    # Half-way to the right edge: the arm is in the middle of the picture.
    right = 0.5 * 0.8 * math.tan(math.radians(FETCH.camera.field_of_view) / 2)
    ahead = np.array(FETCH.camera.position) - 0.8 * rotation[:, 2] + right * rotation[:, 0]
    c, s = np.cos(base[2]), np.sin(base[2])
    spot = (base[0] + c * ahead[0] - s * ahead[1], base[1] + s * ahead[0] + c * ahead[1], ahead[2])
    floating = dataclasses.replace(
        in_the_open(FETCH, episode), objects={slot: (*spot, *pose[3:])}, targets=()
    )
    simulator.reset([0], [floating])
    middle = simulator.render_depth()[0][31:33, 47:49]
    assert middle.min() == pytest.approx(0.8, abs=0.12)
    assert middle.max() < 0.8


def test_colours_are_those_of_the_apartment(simulator, pick_episodes):
    for episode in pick_episodes:
        simulator.reset([0], [episode])
        seen = simulator.render_rgb(96)[0].reshape(-1, 1, 3).astype(int)
        model = load_apartment(episode.layout, episode.variation, FETCH).model
        known = np.unique(np.round(255 * model.geom_rgba[:, :3]).astype(int), axis=0)
        assert np.abs(seen - known).max(axis=-1).min(axis=-1).max() <= 2
        assert len(np.unique(seen[:, 0], axis=0)) > 5


def test_ways_over_the_navmesh_are_as_long_as_over_our_grid(simulator, pick_episodes):
    """Recast's navmesh and our fast marching are independent of each other."""
    rng = np.random.default_rng(0)
    for episode in pick_episodes:
        simulator.reset([0], [episode])
        grid = load_layout(episode.layout, episode.variation)[1]
        free = np.argwhere(grid.navigable(ROBOT_RADIUS + 0.02))
        goal, *starts = grid.center_of(free[rng.integers(len(free), size=12)])
        field = distance_field(grid, tuple(goal.tolist()), ROBOT_RADIUS).distance
        ours = np.array([field[grid.cell_of(*start)] for start in starts])
        theirs = simulator.geodesics(0, np.array(starts), goal, ROBOT_RADIUS)
        assert theirs == pytest.approx(ours, rel=0.04, abs=0.05)


def test_doors_and_drawers_start_where_the_episode_says(simulator, pick_episodes):
    values = {"fridge_door": 1.2, "drawer_right_top": 0.3, "drawer_bottom": 0.1}
    start = dataclasses.replace(in_the_open(FETCH, pick_episodes[0]), articulated=values)
    simulator.reset([0], [start])
    reference = MujocoSimulator(1, CONFIG)
    reference.reset([0], [start])
    expected = [values.get(joint, 0.0) for joint in APARTMENT.joints]
    assert simulator.state.articulated_joints[0] == pytest.approx(expected, abs=0.005)
    handles = reference.state.handle_position[0]
    assert simulator.state.handle_position[0] == pytest.approx(handles, abs=0.005)


def test_a_fridge_opens_by_its_handle(simulator, one_variation):
    """The cup is brought to the handle, takes it, and the base pulls the door open."""
    task = make_task("open_fridge")
    rng = np.random.default_rng(1)
    for _ in range(12):
        simulator.reset([0], [task.sample_episode("val", rng)])
        if open_door(simulator):
            return
    raise AssertionError("the fridge was opened in none of the episodes")


def test_the_same_seed_repeats():
    """Observations, rewards and ends of an episode come back bit for bit, also in a new engine."""
    first, second = (_play(seed=5) for _ in range(2))
    assert len(first) == len(second)
    for (depth, reward), (again, same) in zip(first, second, strict=True):
        assert np.array_equal(depth, again)
        assert reward == same


def _play(seed):
    env = RearrangeEnv("pick", split="val", simulator=make_simulator(1))
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    played = []
    for _ in range(60):
        action = rng.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        played.append((observation["head_depth"].copy(), reward))
        if terminated or truncated:
            break
    env.close()
    return played


def test_an_abort_is_survived_and_reported(simulator, pick_episodes):
    simulator.reset([0], pick_episodes[:1])
    before = snapshot(simulator.state)
    (pid,) = simulator.engine_ids()
    engine = simulator._worlds[0].engine
    engine.ask("abort")
    with pytest.raises(UserError, match=r"engine of world 0 died \(SIGABRT\)") as told:
        engine.answer()
    assert "\n" not in str(told.value)
    with pytest.raises(UserError, match="reset that world"):
        simulator.step(one_action(simulator))
    simulator.reset([0], pick_episodes[:1])
    assert simulator.engine_ids() != [pid]
    for name, values in snapshot(simulator.state).items():
        assert np.array_equal(values, before[name]), name


def test_a_mistake_that_the_engine_does_not_forgive_is_told(simulator, pick_episodes, monkeypatch):
    """What the issue is about: a mass of zero ends habitat-sim's process, not ours."""
    scene = habitat.engine_scene

    def weightless(episode):
        built = scene(episode)
        for thing in built["objects"]:
            thing["mass"] = 0.0
        return built

    monkeypatch.setattr(habitat, "engine_scene", weightless)
    with pytest.raises(UserError, match="Habitat engine of world 0") as told:
        simulator.reset([0], pick_episodes[:1])
    assert "\n" not in str(told.value)
    print(told.value)


def test_closing_leaves_no_process(pick_episodes):
    simulator = make_simulator(2)
    simulator.reset([0, 1], pick_episodes)
    pids = simulator.engine_ids()
    assert len(pids) == 2
    simulator.close()
    time.sleep(0.1)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_nothing_is_held_at_first(simulator, pick_episodes):
    simulator.reset([0], pick_episodes[:1])
    assert simulator.state.held_object[0] == simulator.state.held_handle[0] == NOTHING
