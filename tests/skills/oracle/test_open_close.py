"""The oracles that open and close, in the default simulator and in the tasks' own environments."""

import math

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.navigation import load_layout
from rearrange.robot.fetch import FETCH
from rearrange.rules import without_stop_masks
from rearrange.scenes.apartment import ARTICULATED_JOINTS
from rearrange.sim.base import NOTHING
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.tasks import default_config
from skills.oracle import CloseOracle, NavigateToHandle, OpenOracle
from skills.oracle.fixtures import Fixture
from skills.oracle.obstacles import obstacles_of
from skills.oracle.reach import to_base
from skills.oracle.sweep_planner import Door, push_door

SKILLS = ("open_cab", "close_cab", "open_fridge", "close_fridge")


@pytest.fixture(scope="module")
def worlds():
    made = {}

    def world(task):
        if task not in made:
            config = without_stop_masks(default_config(task))
            made[task] = RearrangeEnv(
                task, config, split="val", simulator=SimulatorConfig(camera_size=16), seed=0
            )
        return made[task]

    return world


def run(env, oracle, joint, limit):
    """Let an oracle act until it is done; returns metrics of the episode, or None, and the steps."""
    oracle.reset(env.state, 0, joint)
    info = {}
    for step in range(limit):
        action = oracle.act(env.state, 0)
        assert np.abs(action[:7]).max() <= oracle.config.arm_step + 1e-9
        assert abs(action[8]) <= oracle.config.forward_step + 1e-9
        assert abs(action[9]) <= oracle.config.turn_step + 1e-9
        stop = oracle.done(env.state, 0)
        _, terminated, truncated, info = env.step_physical(action, stop)
        if stop or terminated or truncated:
            return info.get("metrics"), step + 1
    pytest.fail(f"not done after {limit} steps")


def oracle_for(task, env):
    grid = load_layout(env.episode.layout, env.episode.variation)[1]
    return (OpenOracle if task.startswith("open") else CloseOracle)(grid)


@pytest.mark.parametrize("task", SKILLS)
def test_the_task_is_done(worlds, task):
    env = worlds(task)
    env.reset(seed=1)
    slot = env.episode.targets[0].slot
    height = env.state.object_position[0, slot, 2].copy()
    oracle = oracle_for(task, env)
    metrics, steps = run(env, oracle, env.episode.target_joint, 200)
    assert oracle.failure == ""
    assert metrics is not None
    assert metrics["success"] == 1.0
    assert steps <= 180
    # What is inside stays inside.
    assert abs(env.state.object_position[0, slot, 2] - height) < 0.02


@pytest.mark.parametrize("joint", [name for name in ARTICULATED_JOINTS if "drawer" in name])
def test_every_drawer_opens_and_closes(worlds, joint):
    """Driven to by the oracle itself, from anywhere in the apartment."""
    env = worlds("tidy_house")
    env.reset(seed=4)
    grid = load_layout(env.episode.layout, env.episode.variation)[1]
    index, state = ARTICULATED_JOINTS.index(joint), env.state
    others = np.arange(len(ARTICULATED_JOINTS)) != index
    for oracle, low, high in ((OpenOracle(grid), 0.40, 0.46), (CloseOracle(grid), -0.01, 0.05)):
        run_free(env, NavigateToHandle(grid), joint)
        run_free(env, oracle, joint)
        assert oracle.failure == ""
        assert low < state.articulated_joints[0, index] < high
        assert state.held_handle[0] == NOTHING
        tip = to_base(state.base_pose[0], state.end_effector_position[0])
        assert math.dist(tip, FETCH.resting_tip) < 0.1
        assert np.abs(state.articulated_joints[0, others]).max() < 0.02


def run_free(env, oracle, joint, limit=600):
    """As `run`, but what the task thinks of it does not count."""
    oracle.reset(env.state, 0, joint)
    for _ in range(limit):
        action = oracle.act(env.state, 0)
        if oracle.done(env.state, 0):
            return
        env.simulator.step(action[None])
        assert env.state.contact_force[0] < 10_000.0
    pytest.fail(f"not done after {limit} steps")


def test_the_way_to_a_handle_ends_where_opening_needs_no_drive(worlds):
    env = worlds("tidy_house")
    env.reset(seed=2)
    grid = load_layout(env.episode.layout, env.episode.variation)[1]
    navigate, joint = NavigateToHandle(grid), "fridge_door"
    run_free(env, navigate, joint)
    assert navigate.failure == ""
    before = env.state.base_pose[0].copy()
    fixture = Fixture.of(grid.apartment, joint)
    assert math.dist(before[:2], fixture.handle(0.0)[:2]) < 1.3
    oracle = OpenOracle(grid)
    run_free(env, oracle, joint)
    assert oracle.failure == ""
    assert env.state.articulated_joints[0, 0] > 1.1708


def test_a_full_hand_opens_nothing(worlds):
    env = worlds("place")
    env.reset(seed=0)
    grid = load_layout(env.episode.layout, env.episode.variation)[1]
    oracle = OpenOracle(grid)
    run_free(env, oracle, "fridge_door", limit=5)
    assert oracle.failure == "open: the hand is full"


def test_what_is_open_stays_open(worlds):
    env = worlds("open_cab")
    env.reset(seed=0)
    env.simulator.data[0].qpos[env.simulator.worlds[0].joint_qpos[1]] = 0.44
    env.simulator.step(np.zeros((1, 10)))
    oracle = oracle_for("open_cab", env)
    start = env.state.base_pose[0].copy()
    run_free(env, oracle, "drawer_right_top", limit=60)  # only the arm's noise is put right
    assert oracle.failure == ""
    assert np.abs(env.state.base_pose[0] - start).max() < 1e-9


def test_unknown_joints_are_refused(worlds):
    env = worlds("open_cab")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="choose one of fridge_door"):
        oracle_for("open_cab", env).reset(env.state, 0, "oven_door")


@pytest.mark.parametrize("joint", ARTICULATED_JOINTS)
def test_fixtures_agree_with_the_simulator(worlds, joint):
    env = worlds("tidy_house")
    env.reset(seed=5)
    index = ARTICULATED_JOINTS.index(joint)
    env.simulator.data[0].qpos[env.simulator.worlds[0].joint_qpos[index]] = 0.3
    env.simulator.step(np.zeros((1, 10)))
    apartment, _ = load_layout(env.episode.layout, env.episode.variation)
    fixture = Fixture.of(apartment, joint)
    opening = float(env.state.articulated_joints[0, index])
    assert opening > 0.2
    depth = 0.0175 * np.array([*fixture.outward(opening), 0.0])  # half of a handle's thickness
    assert fixture.handle(opening) - depth == pytest.approx(env.state.handle_position[0, index])
    obstacles = obstacles_of(apartment, env.state, 0, NOTHING)
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


def disc_door(x, y, pushes):
    """A door closed towards +x with its hinge in the origin, and a robot that is one disc."""
    disc = np.array([[x, y, 0.05, float(pushes)]])
    return Door(0.0, 0.0, 0.0, disc, np.zeros(2), 0.01, 0.6)


def test_the_door_gives_way_to_what_may_push_it():
    open_at_right_angles, at = math.pi / 2, np.zeros(3)
    # Open by 90 degrees the panel lies along +x and its outer face looks to +y.
    touching = disc_door(0.4, 0.06, True)
    angle = push_door(touching, at, open_at_right_angles)
    assert 1.4 < angle < open_at_right_angles
    # Now the disc's rim is on the face.
    out = 0.4 * math.cos(angle) + 0.06 * math.sin(angle)
    assert out == pytest.approx(0.05 + 0.025)
    assert push_door(disc_door(0.4, 0.06, False), at, open_at_right_angles) == -1.0
    assert push_door(disc_door(0.4, -0.06, True), at, open_at_right_angles) == -1.0  # from inside
    assert push_door(disc_door(0.4, 0.3, True), at, open_at_right_angles) == open_at_right_angles
    assert push_door(disc_door(0.9, 0.0, True), at, open_at_right_angles) == open_at_right_angles


@pytest.mark.slow
@pytest.mark.parametrize("task", SKILLS)
def test_nearly_all_start_states_succeed(worlds, task):
    env, done = worlds(task), 0
    for seed in range(20):
        env.reset(seed=seed)
        metrics, _ = run(env, oracle_for(task, env), env.episode.target_joint, 200)
        done += metrics is not None and metrics["success"] == 1.0
    assert done >= 19
