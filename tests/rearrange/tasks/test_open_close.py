import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim import NOTHING
from rearrange.tasks import TASKS, CloseCab, CloseFridge, OpenCab, OpenFridge

REST = (0.5, 0.0, 1.0)  # of a base at the origin
HANDLE = (1.5, 0.0, 1.0)  # 1 m from the resting hand
DRAWER, FRIDGE = APARTMENT.joints.index("drawer_right_top"), 0
# Task, index of its joint, a value at which it is where it shall be and one at which it is not yet.
CASES = [
    (OpenCab, DRAWER, 0.41, 0.39),
    (CloseCab, DRAWER, 0.04, 0.06),
    (OpenFridge, FRIDGE, 1.18, 1.16),
    (CloseFridge, FRIDGE, 0.04, 0.06),
]
IDS = [case[0].name for case in CASES]
ALL = pytest.mark.parametrize(("kind", "joint", "there", "short"), CASES, ids=IDS)
OPENING = pytest.mark.parametrize(("kind", "joint", "there", "short"), CASES[::2], ids=IDS[::2])


@pytest.fixture
def scene(make_state):
    """A state of two worlds in which the hand is at rest and 1 m before every handle."""

    def make(joint, value, hand=REST, handle=None, held=NOTHING, broke=False, force=0.0):
        joints = np.zeros((2, 5))
        joints[:, joint] = (value, 0.2)
        return make_state(
            2,
            articulated_joints=joints,
            handle_position=np.full((2, 5, 3), HANDLE),
            end_effector_position=[hand, REST],
            held_handle=[NOTHING if handle is None else handle, NOTHING],
            held_object=[held, NOTHING],
            hold_violated=[broke, False],
            contact_force=[force, 0.0],
        )

    return make


@pytest.fixture
def begin(make_episode, scene):
    """A task over two worlds; world 1 is a bystander whose joint stays at 0.2."""

    def start(kind, joint, value=0.2, **settings):
        task = kind(kind.config_type(**settings), 2)
        name = APARTMENT.joints[joint]
        episode = make_episode((3, (0, 0, 0), (0, 0, 0)), target_joint=name)
        task.start([0, 1], [episode] * 2, scene(joint, value))
        return task

    return start


@pytest.fixture
def step(scene, assert_bystander):
    """Evaluate a state in which world 0 is as given and world 1 as at its start."""

    def evaluate(task, joint, value, stop=False, **given):
        action = np.full((2, 11), -1.0)
        action[0, 10] = 1.0 if stop else -1.0
        outcome = task.evaluate(scene(joint, value, **given), np.asarray(action))
        assert_bystander(outcome)
        assert float(outcome.rewards["slack"][0]) == 0.0
        return outcome

    return evaluate


def near(**terms):
    return pytest.approx(terms, abs=1e-4)


@ALL
def test_the_joint_pays_ten_per_metre_or_radian(begin, step, rewards_of, kind, joint, there, short):
    task = begin(kind, joint)
    sign = 1 if kind.opens else -1
    assert rewards_of(step(task, joint, 0.2 + sign * 0.1)) == near(joint=1.0)
    assert rewards_of(step(task, joint, 0.2 + sign * 0.05)) == near(joint=-0.5)


@ALL
def test_approaching_the_handle_pays_until_it_is_there(
    begin, step, rewards_of, kind, joint, there, short
):
    task = begin(kind, joint, short)
    assert rewards_of(step(task, joint, short, hand=(0.9, 0.0, 1.0))) == near(handle=0.4)
    crossing = rewards_of(step(task, joint, there, hand=(1.0, 0.0, 1.0)))
    # The step that brings it there still pays as one before.
    assert crossing == near(joint=0.2, handle=0.1, state=5.0)
    rest = task.config.rest_scale
    assert rest == (10.0 if kind is OpenCab else 1.0)
    assert rewards_of(step(task, joint, there, hand=(0.8, 0.0, 1.0))) == near(rest=0.2 * rest)
    assert rewards_of(step(task, joint, short, hand=(0.8, 0.0, 1.0))) == {}
    assert rewards_of(step(task, joint, there, hand=(0.8, 0.0, 1.0))) == {}  # paid but once


@OPENING
def test_taking_the_right_handle_pays_once_and_ends_the_approach(
    begin, step, rewards_of, kind, joint, there, short
):
    task = begin(kind, joint)
    outcome = step(task, joint, 0.2, hand=(1.4, 0.0, 1.0), handle=joint)
    assert rewards_of(outcome) == near(grasp=5.0)
    assert not bool(outcome.terminated[0])
    assert rewards_of(step(task, joint, 0.2, hand=(1.3, 0.0, 1.0), handle=joint)) == {}
    assert rewards_of(step(task, joint, 0.2, hand=(1.4, 0.0, 1.0))) == near(handle=0.1)
    assert rewards_of(step(task, joint, 0.2, hand=(1.4, 0.0, 1.0), handle=joint)) == {}


@OPENING
def test_another_handle_costs_and_ends_the_episode(
    begin, step, rewards_of, failures_of, kind, joint, there, short
):
    outcome = step(begin(kind, joint), joint, 0.2, handle=4)
    assert rewards_of(outcome) == near(wrong_grasp=-5.0)
    assert failures_of(outcome) == {"wrong_handle"}
    assert bool(outcome.terminated[0])


@OPENING
def test_an_object_costs_and_ends_the_episode(
    begin, step, rewards_of, failures_of, kind, joint, there, short
):
    outcome = step(begin(kind, joint), joint, 0.2, held=0)
    assert rewards_of(outcome) == near(wrong_grasp=-5.0)
    assert failures_of(outcome) == {"wrong_object"}
    assert bool(outcome.terminated[0])


@ALL
def test_a_broken_grasp_costs_and_ends_the_episode(
    begin, step, rewards_of, failures_of, kind, joint, there, short
):
    outcome = step(begin(kind, joint), joint, 0.2, broke=True)
    assert rewards_of(outcome) == near(hold=-1.0 if kind.opens else -10.0)
    assert failures_of(outcome) == {"hold_violated"}
    assert bool(outcome.terminated[0])


AWAY = (0.5, 0.31, 1.0)  # just beyond the zone that the hand has to leave


@ALL
def test_success_is_there_at_rest_with_an_empty_hand_and_stop(
    begin, step, rewards_of, failures_of, kind, joint, there, short
):
    task = begin(kind, joint, there)
    step(task, joint, there, hand=AWAY)
    outcome = step(task, joint, there)
    assert not bool(outcome.success[0])
    assert not bool(outcome.terminated[0])
    outcome = step(task, joint, there, hand=(0.5, 0.14, 1.0), stop=True)
    assert bool(outcome.success[0])
    assert bool(outcome.terminated[0])
    assert rewards_of(outcome)["success"] == pytest.approx(10.0)
    assert failures_of(outcome) == set()


@ALL
def test_stopping_with_the_joint_not_there_ends_in_failure(
    begin, step, failures_of, kind, joint, there, short
):
    task = begin(kind, joint, there)
    step(task, joint, there, hand=AWAY)
    outcome = step(task, joint, short, stop=True)
    assert bool(outcome.terminated[0])
    assert not bool(outcome.success[0])
    assert failures_of(outcome) == {"stopped_early"}


@ALL
def test_a_wrong_stop_and_lingering_cost_if_asked(
    begin, step, rewards_of, kind, joint, there, short
):
    task = begin(
        kind, joint, there, stop_zone=0.0,
        wrong_stop_ends=False, wrong_stop_penalty=0.5, linger_penalty=0.2,
    )  # fmt: skip
    outcome = step(task, joint, short, stop=True)
    assert rewards_of(outcome)["stop"] == pytest.approx(-0.5)
    assert not bool(outcome.terminated[0])
    waiting = rewards_of(step(task, joint, there))
    assert waiting["linger"] == pytest.approx(-0.2)
    assert "stop" not in waiting
    assert "linger" not in rewards_of(step(task, joint, there, hand=AWAY))
    over = step(task, joint, there, stop=True)
    assert bool(over.success[0])
    assert not {"linger", "stop"} & rewards_of(over).keys()


@ALL
@pytest.mark.parametrize("lack", ["never away", "not back", "not empty"])
@pytest.mark.parametrize("zone", [0.3, 0.0])
def test_stopping_is_ignored_where_the_skill_could_not_end(
    begin, step, failures_of, kind, joint, there, short, lack, zone
):
    task = begin(kind, joint, there, stop_zone=zone)
    if lack == "never away":
        outcome = step(begin(kind, joint, short, stop_zone=zone), joint, short, stop=True)
    else:
        step(task, joint, there, hand=AWAY)
        given = {"not back": {"hand": (0.5, 0.16, 1.0)}, "not empty": {"handle": joint}}[lack]
        outcome = step(task, joint, there, stop=True, **given)
    ignored = zone > 0
    assert bool(outcome.terminated[0]) is not ignored
    assert not bool(outcome.success[0])
    assert failures_of(outcome) == (set() if ignored else {"stopped_early"})


@ALL
def test_the_true_joint_tells_the_robot_nothing(begin, step, kind, joint, there, short):
    """Moved by driving alone, it is there, and nothing that the robot feels says so."""
    assert not bool(step(begin(kind, joint, short), joint, there, stop=True).terminated[0])
    assert bool(step(begin(kind, joint, short, stop_zone=0), joint, there, stop=True).success[0])


@ALL
def test_who_has_held_something_has_done_something(begin, step, kind, joint, there, short):
    task = begin(kind, joint, there)
    step(task, joint, there, handle=joint)
    assert bool(step(task, joint, there, stop=True).success[0])


@pytest.mark.parametrize("value", [1.3, 2.3])
def test_a_fridge_opened_further_is_open(begin, step, value):
    task = begin(OpenFridge, FRIDGE)
    step(task, FRIDGE, value, hand=AWAY)
    assert bool(step(task, FRIDGE, value, stop=True).success[0])


@ALL
def test_force_is_penalised_and_limited(
    begin, step, rewards_of, failures_of, kind, joint, there, short
):
    task = begin(kind, joint)
    assert rewards_of(step(task, joint, 0.2, force=60.0)) == near(force=-0.006)
    outcome = step(task, joint, 0.2, force=10_100.0)
    assert rewards_of(outcome) == near(force=-10.01)
    assert failures_of(outcome) == {"force_limit"}
    assert bool(outcome.terminated[0])
    step(task, joint, 0.2)
    assert "force_limit" in failures_of(step(task, joint, 0.2, force=9_990.0))  # accumulated


@ALL
def test_only_the_close_skills_ignore_the_grip(
    begin, make_state, expect, kind, joint, there, short
):
    physical = np.asarray(np.full((2, 10), 0.6))
    masked = begin(kind, joint).mask(make_state(2), physical)
    expect(masked[:, 7], [0.6, 0.6] if kind.opens else [-1.0, -1.0])
    expect(masked[:, 8:], np.full((2, 2), 0.6))
    still = begin(kind, joint, base_motion=False).mask(make_state(2), physical)
    expect(still[:, 8:], np.zeros((2, 2)))


def test_worlds_may_ask_for_different_joints(make_state, make_episode, rewards_of, scene):
    task = OpenCab(None, 2)
    target = (3, (0, 0, 0), (0, 0, 0))
    episodes = [make_episode(target, target_joint=j) for j in ("drawer_middle", "drawer_right_top")]
    task.start([0, 1], episodes, make_state(2))
    joints = np.zeros((2, 5))
    joints[0, DRAWER], joints[1, DRAWER] = 0.3, 0.1
    outcome = task.evaluate(make_state(2, articulated_joints=joints), np.zeros((2, 11)))
    np.testing.assert_allclose(np.asarray(outcome.rewards["joint"]), [0.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("kind", [OpenCab, CloseFridge])
def test_observations_are_in_their_frames(kind, begin, make_state, expect, assert_unchanged):
    task = begin(kind, DRAWER)
    state = make_state(
        2,
        base_pose=[(1.0, 0.0, math.pi / 2), (0, 0, 0)],
        end_effector_position=[(0.8, 0.4, 0.9), REST],
        held_handle=[DRAWER, NOTHING],
        arm_joints=np.full((2, 7), 0.3),
    )
    with assert_unchanged(state):
        seen = task.observe(state)
    expect(seen["ee_pos"], [[0.4, 0.2, 0.9], REST])
    expect(seen["relative_resting_position"], [[0.1, -0.2, 0.1], [0, 0, 0]])
    expect(seen["is_holding"], [[1.0], [0.0]])
    expect(seen["joint"], np.full((2, 7), 0.3))
    expect(seen["gps_compass"][0], [1.0, 0.0, 0.0, 1.0])
    assert {name: box.shape for name, box in task.observation_spaces().items()} == {
        name: tuple(values.shape[1:]) for name, values in seen.items()
    }


def in_frame(pose, point):
    """A world point in the frame of a piece of furniture."""
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    dx, dy = point[0] - pose.position[0], point[1] - pose.position[1]
    return c * dx + s * dy, c * dy - s * dx


@pytest.mark.usefixtures("one_variation")
@pytest.mark.parametrize("name", IDS)
def test_sampled_starts_are_before_the_handle(name):
    kind = TASKS[name][0]
    rng, task = np.random.default_rng(1), kind()
    low, high = {
        "open_cab": (0.0, 0.0),
        "close_cab": (0.40, 0.45),
        "open_fridge": (0.0, 0.0),
        "close_fridge": (math.pi / 4, 2 * math.pi / 3),
    }[name]
    for _ in range(20):
        episode = task.sample_episode("val", rng)
        assert episode.target_joint == task.parts[0].name
        value = episode.articulated[task.parts[0].name]
        assert low <= value <= high
        apartment, grid = load_layout(episode.layout, 0)
        assert grid.on_island(*episode.base_pose[:2])
        (target,) = episode.targets
        assert target.start_receptacle == task.parts[0].receptacle
        assert target.start == episode.objects[target.slot][:3]
        assert len(episode.objects) > 20
        if "cab" in name:
            x, y = in_frame(apartment.frames["cabinet"], episode.base_pose)
            handle_x, handle_y = 0.30 + 0.0175 + value, 0.24
            middle = 0.875 if kind.opens else 0.825
            depth = 0.075 if kind.opens else 0.025
            assert abs(x - handle_x - middle) <= depth * 0.2 + 1e-9
            assert abs(y - handle_y) <= 0.35 * 0.2 + 1e-9
        else:
            x, y = in_frame(apartment.frames["fridge"], episode.base_pose)
            assert 0.833 <= x <= 1.25
            assert abs(y) <= 0.6


@pytest.mark.usefixtures("one_variation")
@pytest.mark.parametrize("name", IDS)
def test_arrived_starts_are_where_navigate_may_have_ended(name):
    kind = TASKS[name][0]
    rng, task = np.random.default_rng(1), kind(kind.config_type(arrived_share=1.0))
    away, off = [], []
    for _ in range(60):
        episode = task.sample_episode("val", rng)
        (target,) = episode.targets
        dx, dy = np.subtract(target.start[:2], episode.base_pose[:2])
        away.append(math.hypot(dx, dy))
        off.append(math.remainder(math.atan2(dy, dx) - episode.base_pose[2], 2 * math.pi))
        _, grid = load_layout(episode.layout, 0)
        assert grid.on_island(*episode.base_pose[:2])
        low, high = task.config.start_joint_low, task.config.start_joint_high
        assert low <= episode.articulated[task.parts[0].name] <= high
    assert max(away) <= 1.5
    assert max(away) - min(away) > 0.3
    assert 0.08 < np.std(off) < 0.2


def test_a_part_before_which_there_is_no_room_is_named(monkeypatch):
    monkeypatch.setattr(OpenFridge, "_stand", lambda *_: None)
    with pytest.raises(UserError, match=r"before fridge_door: .* tasks: \[\] of it"):
        OpenFridge().sample_episode("val", np.random.default_rng(0))


@pytest.mark.parametrize("name", IDS)
def test_a_least_above_the_most_is_refused(name):
    kind = TASKS[name][0]
    for what in ("start_joint", "start_x"):
        low, high = f"{what}_low", f"{what}_high"
        with pytest.raises(
            UserError, match=rf"^task\.{low} must be at most task\.{high}=0\.1, found 3$"
        ):
            kind(kind.config_type(**{low: 3.0, high: 0.1}))
