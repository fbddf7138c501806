"""Our rules and HAB's."""

import dataclasses
import math

import pytest

from rearrange import RearrangeEnv, SimulatorConfig, UserError
from rearrange.rules import (
    check_rules,
    hab_config,
    judged,
    settings_in,
    simulator_config,
    task_config,
    with_hab,
    without_stop_masks,
)
from rearrange.settings import group, setting, setting_of
from rearrange.tasks import TASKS, default_config


@dataclasses.dataclass
class Inner:
    """Numbers of a group."""

    limit: float = setting(2.0, hab=3.0, about="of a sum [N]")
    floor: float = setting(1.0, hab=1.0, about="least [N]")


@dataclasses.dataclass
class Outer:
    """Numbers of a task."""

    inner: Inner = group(Inner, floor=-1.0)
    other: Inner = group(lambda: Inner(limit=7.0), limit=None)
    reach: float = setting(0.5, hab=0.25, about="how far")
    share: float = setting(0.1, hab=None, about="of something")
    travel: float = setting(0.45, hab=0.5, kept="it ends there", about="of a drawer [m]")


@dataclasses.dataclass
class Narrow(Outer):
    """Numbers of another."""

    reach: float = setting(0.3, hab=0.1, about="less far [m]")


@dataclasses.dataclass
class Forgotten:
    """A field of which nothing is known."""

    reach: float = 0.5


def test_habs_values_take_the_place_of_ours_but_where_there_are_none():
    assert with_hab(Outer()) == Outer(
        inner=Inner(limit=3.0, floor=-1.0),
        other=Inner(limit=7.0, floor=1.0),
        reach=0.25,
        share=0.1,
        travel=0.45,
    )
    assert with_hab(Narrow()).reach == 0.1
    assert Outer() == Outer(Inner(2.0, 1.0), Inner(7.0, 1.0), 0.5, 0.1, 0.45)


def test_a_field_without_habs_value_is_an_error():
    with pytest.raises(TypeError, match=r"reach: make the field with rearrange\.settings\.setting"):
        with_hab(Forgotten())
    with pytest.raises(TypeError, match="reach"):
        setting_of(dataclasses.fields(Forgotten)[0])


@pytest.mark.parametrize("config", [*(kind() for _, kind in TASKS.values()), SimulatorConfig()])
def test_every_setting_of_every_task_and_of_the_simulator_says_what_it_is(config):
    for name, value, known in settings_in(config):
        assert known.about, name
        assert known.hab is None or isinstance(known.hab, type(value) | int | float), name


def test_the_simulator_of_hab():
    hab = simulator_config("hab")
    assert (hab.camera_size, hab.slide, hab.stall, hab.target_lead) == (128, False, False, math.inf)
    assert (hab.hard_contacts, hab.scene_force, hab.hold_threshold) == (True, True, 0.15)
    assert simulator_config() == SimulatorConfig()


@pytest.mark.parametrize("task", TASKS)
def test_actions_are_as_in_the_paper_in_every_task(task):
    action = hab_config(task).action
    assert (action.arm_step, action.forward_step, action.turn_step) == (0.0125, 0.0833, 0.0833)
    assert (action.repeat, action.delay) == (1, 1)


# Typed by hand from habitat-lab v0.3.4: penalty per newton, at most, accumulated and instant limit, at the end.
FORCE = {
    "navigate": (1e-4, 0.01, 10_000, 10_000, 1.0),  # configured; penalised in the VER paper
    "pick": (1e-4, 0.01, 10_000, 10_000, 1.0),
    "place": (1e-4, 0.0, 10_000, 10_000, 1.0),
    "open_cab": (0.0, 0.01, -1, 10_000, 10.0),
    "close_cab": (0.0, 0.01, -1, -1, 10.0),
    "open_fridge": (0.0, 0.01, 20_000, 10_000, 10.0),
    "close_fridge": (0.0, 0.01, -1, -1, 10.0),
    "tidy_house": (0.0, 0.01, 100_000, 10_000, 0.0),
    "prepare_groceries": (0.0, 0.01, 100_000, 10_000, 0.0),
    "set_table": (0.0, 0.01, 100_000, 10_000, 0.0),
}


@pytest.mark.parametrize("task", TASKS)
def test_force_costs_what_it_costs_in_hab(task):
    force = hab_config(task).force
    found = (force.penalty, force.largest_penalty, force.accumulated_limit, force.instant_limit)
    assert (*found, force.end_penalty) == FORCE[task]
    assert force.noise_floor == 20.0


def test_nothing_of_a_policys_actions_is_masked_but_what_hab_masks():
    assert hab_config("navigate").stop_distance == math.inf
    assert judged(hab_config("navigate")).stop_distance == 2.0  # the VER paper's
    assert hab_config("place").release_distance == math.inf
    assert hab_config("place").release_pause == 0
    for task in ("open_cab", "close_cab", "open_fridge", "close_fridge"):
        assert hab_config(task).stop_zone == judged(hab_config(task)).stop_zone == 0.0


def test_rewards_of_hab():
    pick, place, navigate = (hab_config(task) for task in ("pick", "place", "navigate"))
    assert (pick.distance_scale, pick.pick_bonus, pick.wrong_penalty, pick.drop_penalty) == (
        2.0, 2.0, 0.5, 0.5,
    )  # fmt: skip
    assert (place.distance_scale, place.place_bonus, place.drop_penalty) == (2.0, 5.0, 0.0)
    assert (place.still_threshold, place.arrival_distance) == (math.inf, 0.15)
    assert (navigate.distance_scale, navigate.turn_scale, navigate.geodesic) == (1.0, 1.0, False)
    assert (navigate.drop_penalty, navigate.drop_ends) == (0.0, False)
    assert (navigate.goal_way, navigate.goals_open) == (math.inf, True)
    for config in (pick, place, navigate):
        assert (config.success_bonus, config.slack) == (10.0, 0.005)
    table = hab_config("set_table")
    assert (table.open_scale, table.open_bonus, table.success_bonus) == (0.0, 0.0, 100.0)


def test_our_rules_are_the_defaults():
    for task in TASKS:
        assert task_config(task) == default_config(task)
        assert task_config(task, "hab") == hab_config(task)


def test_unknown_rules_name_those_that_exist():
    with pytest.raises(UserError, match="unknown rules 'habitat': choose one of ours, hab"):
        check_rules("habitat")


@pytest.mark.usefixtures("one_variation")
@pytest.mark.parametrize("task", ["pick", "open_fridge"])
def test_an_environment_by_habs_rules_starts_and_steps(task):
    simulator = dataclasses.replace(simulator_config("hab"), camera_size=8)
    env = RearrangeEnv(task, hab_config(task), "val", simulator)
    start = env.reset(seed=1)[0]
    action = env.action_space.high.copy()
    action[10:] = -1.0  # no stop
    observation = env.step(action)[0]
    for key, value in start.items():
        assert (observation[key] == value).all(), key  # one step late
    moved = env.step(action)[0]["joint"] - start["joint"]
    assert 0.0 < abs(moved).max() <= 0.0125


@pytest.mark.parametrize("task", TASKS)
def test_by_our_rules_a_task_is_judged_as_it_is(task):
    assert judged(default_config(task)) == default_config(task)


def test_masks_of_stops_are_taken_off_where_there_are_any():
    assert without_stop_masks(default_config("close_fridge")).stop_zone == 0.0
    assert without_stop_masks(default_config("navigate")).stop_distance == math.inf
    assert without_stop_masks(default_config("pick")) == default_config("pick")
