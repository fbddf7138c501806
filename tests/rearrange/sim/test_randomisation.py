"""Randomised worlds: the same for the same seed, within their ranges, and nothing at all when off."""

import copy
import dataclasses
import itertools
import math
from itertools import pairwise

import mujoco
import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.render.camera import FAR
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import OBJECT_KINDS
from rearrange.sim import MujocoSimulator, Randomisation, SimulatorConfig
from rearrange.sim.apartment_model import load_apartment
from rearrange.testing import check_simulator
from rearrange.testing.tools import one_action, random_actions, snapshot

ALL = Randomisation(
    object_shift=0.01,
    object_turn=0.5,
    friction=0.4,
    mass=0.5,
    camera_shift=0.02,
    camera_turn=0.05,
    depth_noise=0.004,
    short_sight=1.0,
)
NAMES = [entry.name for entry in dataclasses.fields(Randomisation)]
SEEDS = range(200)


def simulator(randomise=None, count=1):
    config = SimulatorConfig(camera_size=32, randomise=randomise or Randomisation())
    return MujocoSimulator(count, config)


def run(world, episode, steps=25):
    """State and depth after some random actions from the episode's start."""
    world.reset([0], [episode])
    for action in random_actions(FETCH, 0, steps, 1):
        world.step(action)
    return snapshot(world.state) | {"depth": world.render_depth().copy()}


def same(first, second):
    return all(np.array_equal(first[name], second[name]) for name in first)


def test_off_draws_nothing():
    assert Randomisation().draw(5) is None


def test_off_is_the_nominal_world_even_beside_randomised_ones(pick_episodes):
    first, second = pick_episodes[:2]
    expected = run(simulator(), first)
    model = load_apartment(first.layout, first.variation, FETCH).model
    friction, mass = model.geom_friction.copy(), model.body_mass.copy()
    disturbed = simulator(ALL)
    run(disturbed, first)
    run(disturbed, second)
    np.testing.assert_array_equal(model.geom_friction, friction)
    np.testing.assert_array_equal(model.body_mass, mass)
    assert same(run(simulator(), first), expected)


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_is_deterministic_and_changes_something(name, pick_episodes):
    episode = pick_episodes[0]
    kind = Randomisation(**{name: getattr(ALL, name)})
    found = run(simulator(kind), episode)
    again = simulator(kind)
    run(again, dataclasses.replace(episode, seed=episode.seed + 1))  # leaves no trace
    assert same(run(again, episode), found)
    nominal, drawn = simulator(), again
    if name in ("friction", "mass"):
        nominal.reset([0], [episode])
        field = "geom_friction" if name == "friction" else "body_mass"
        assert not np.array_equal(
            getattr(drawn.worlds[0].model, field), getattr(nominal.worlds[0].model, field)
        )
    else:
        plain = run(nominal, episode)
        assert not same(plain, found)
        if name.startswith(("camera", "depth", "short")):  # the physics is the same
            assert same({**plain, "depth": 0}, {**found, "depth": 0})


def test_seeds_give_different_worlds(pick_episodes):
    world, episode = simulator(ALL), pick_episodes[0]
    models = []
    for seed in (1, 2):
        world.reset([0], [dataclasses.replace(episode, seed=seed)])
        models.append((world.worlds[0].model.geom_friction.copy(), world.camera_pose(0)[0].copy()))
    assert not np.array_equal(models[0][0], models[1][0])
    assert not np.array_equal(models[0][1], models[1][1])


def test_a_kind_draws_the_same_whatever_else_is_on():
    for seed in SEEDS[:20]:
        everything, alone = ALL.draw(seed), Randomisation(mass=ALL.mass).draw(seed)
        np.testing.assert_array_equal(everything.masses, alone.masses)
        assert alone.friction == 1.0


def test_values_fill_their_ranges():
    drawn = [ALL.draw(seed) for seed in SEEDS]
    for values, most in (
        ([d.friction - 1.0 for d in drawn], ALL.friction),
        ([d.masses - 1.0 for d in drawn], ALL.mass),
        ([d.object_motion[:, :2] for d in drawn], ALL.object_shift),
        ([d.object_motion[:, 2] for d in drawn], ALL.object_turn),
        ([d.camera_shift for d in drawn], ALL.camera_shift),
        ([d.camera_turn for d in drawn], ALL.camera_turn),
    ):
        flat = np.concatenate([np.ravel(value) for value in values])
        assert np.abs(flat).max() <= most
        assert flat.min() < -0.9 * most
        assert flat.max() > 0.9 * most
        assert abs(flat.mean()) < 0.15 * most


def test_objects_are_moved_and_turned_as_drawn(pick_episodes):
    episode, drawn = pick_episodes[0], ALL.draw(pick_episodes[0].seed)
    for slot, start in episode.objects.items():
        pose = drawn.moved({slot: start})[slot]
        dx, dy, turn = drawn.object_motion[slot]
        np.testing.assert_allclose(pose[:3], np.add(start[:3], (dx, dy, 0.0)))
        before, after = (2 * math.atan2(q[6], q[3]) for q in (start, pose))
        assert math.remainder(after - before - turn, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_objects_do_not_run_into_each_other(pick_episodes):
    start = pick_episodes[0].objects
    assert crossing(start) == 0
    unhindered = hindered = 0
    for drawn in map(Randomisation(object_shift=0.05).draw, range(20)):
        freely = {slot: drawn.moved({slot: pose})[slot] for slot, pose in start.items()}
        moved = drawn.moved(start)
        unhindered += crossing(freely)
        hindered += sum((moved[slot] != freely[slot]).any() for slot in start)
        assert crossing(moved) == 0
    assert unhindered > 0
    assert 0 < hindered < 2 * unhindered + 1


def crossing(poses) -> int:
    """How many pairs of upright objects are inside one another, by circles about their footprints."""
    kinds = {slot: OBJECT_KINDS[APARTMENT.slot_kinds[slot]] for slot in poses}
    return sum(
        math.dist(poses[a][:2], poses[b][:2])
        < kinds[a].footprint_radius + kinds[b].footprint_radius
        and abs(poses[a][2] - poses[b][2]) < kinds[a].half_height + kinds[b].half_height
        for a, b in itertools.combinations(poses, 2)
    )


def test_scaled_masses_are_what_mujoco_would_derive(pick_episodes):
    nominal = load_apartment(pick_episodes[0].layout, pick_episodes[0].variation, FETCH)
    found, expected = copy.copy(nominal.model), copy.copy(nominal.model)
    drawn = Randomisation(mass=0.5).draw(3)
    drawn.change_model(found, nominal.first_object_body)
    bodies = slice(nominal.first_object_body, nominal.first_object_body + 30)
    expected.body_mass[bodies] *= drawn.masses
    expected.body_inertia[bodies] *= drawn.masses[:, None]
    mujoco.mj_setConst(expected, mujoco.MjData(expected))
    for name in ("body_mass", "body_inertia", "body_subtreemass", "body_invweight0", "dof_M0",
                 "dof_invweight0"):  # fmt: skip
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), 1e-6, 1e-9, name)


def test_all_sliding_friction_gets_the_factor(pick_episodes):
    nominal = load_apartment(pick_episodes[0].layout, pick_episodes[0].variation, FETCH)
    world, kind = simulator(Randomisation(friction=0.4)), Randomisation(friction=0.4)
    world.reset([0], [pick_episodes[0]])
    expected = nominal.model.geom_friction * (kind.draw(pick_episodes[0].seed).friction, 1.0, 1.0)
    np.testing.assert_allclose(world.worlds[0].model.geom_friction, expected)


def test_a_heavier_object_weighs_more_in_the_hand(pick_episodes):
    """The arm sags under what it holds in proportion to its mass."""
    episode = pick_episodes[0]
    sag = []
    for seed in (1, 2, 3, 4):
        drawn = Randomisation(mass=0.9).draw(seed)
        world = simulator(Randomisation(mass=0.9))
        world.reset([0], [dataclasses.replace(episode, seed=seed, held_slot=0)])
        start = world.state.end_effector_position[0, 2]
        for _ in range(15):
            world.step(one_action(world, grip=1.0))
        sag.append((drawn.masses[0], start - world.state.end_effector_position[0, 2]))
    sag.sort()
    assert all(light[1] < heavy[1] for light, heavy in pairwise(sag))


def test_the_camera_moves_as_drawn(pick_episodes):
    episode = dataclasses.replace(pick_episodes[0], base_pose=(5.0, 4.0, 0.0))
    drawn = ALL.draw(episode.seed)
    nominal, moved = simulator(), simulator(ALL)
    for world in (nominal, moved):
        world.reset([0], [episode])
    (place, turn), (there, turned) = nominal.camera_pose(0), moved.camera_pose(0)
    np.testing.assert_allclose(there - place, drawn.camera_shift, atol=1e-12)
    angle = math.acos((np.trace(turn.T @ turned) - 1) / 2)
    assert angle == pytest.approx(np.linalg.norm(drawn.camera_turn))
    np.testing.assert_allclose(place, np.add(FETCH.camera.position, (5.0, 4.0, 0.0)))


def test_depth_noise_grows_with_the_square_of_depth():
    drawn = Randomisation(depth_noise=0.01).draw(1)
    for depth in (1.0, 3.0):
        image = np.full((200, 200), depth, np.float32)
        drawn.disturb_depth(image, 0)
        assert image.std() == pytest.approx(0.01 * depth**2, rel=0.03)
        assert image.mean() == pytest.approx(depth, rel=0.001)
    image = np.full((50, 50), FAR - 0.1, np.float32)
    image[0] = FAR
    drawn.disturb_depth(image, 0)
    assert (image[0] == FAR).all()  # nothing was seen there
    assert image.max() <= FAR


def test_a_short_sight_ends_within_its_range_in_its_share_of_episodes():
    sights = np.array([Randomisation(short_sight=0.5).draw(seed).sight for seed in SEEDS])
    short = sights[sights < FAR]
    assert 80 < len(short) < 120
    assert 1.2 <= short.min() < 1.3 < 3.9 < short.max() <= 4.0
    drawn = Randomisation(short_sight=1.0).draw(1)
    image = np.array([[0.5, drawn.sight - 0.01], [drawn.sight + 0.01, FAR]], np.float32)
    expected = image.copy()
    expected[1, 0] = FAR
    drawn.disturb_depth(image, 0)
    np.testing.assert_array_equal(image, expected)


def test_depth_noise_is_new_in_every_step_and_the_same_when_asked_twice(pick_episodes):
    world = simulator(Randomisation(depth_noise=0.01))
    world.reset([0], [pick_episodes[0]])
    first = world.render_depth().copy()
    np.testing.assert_array_equal(world.render_depth(), first)
    world.step(one_action(world))
    assert not np.array_equal(world.render_depth(), first)
    assert world._steps[0] == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [-0.1, 5.0, math.nan])
def test_values_out_of_range_are_named(name, value):
    with pytest.raises(UserError, match=rf"randomise\.{name} must be from 0 to"):
        simulator(Randomisation(**{name: value}))


def test_worlds_of_one_apartment_do_not_disturb_each_other(pick_episodes):
    episodes = [dataclasses.replace(pick_episodes[0], seed=seed) for seed in (1, 2)]
    together, alone = simulator(ALL, 2), simulator(ALL)
    together.reset([0, 1], episodes)
    alone.reset([0], episodes[1:])
    for action in random_actions(FETCH, 0, 20, 1):
        together.step(np.repeat(action, 2, axis=0))
        alone.step(action)
    np.testing.assert_array_equal(together.state.arm_joints[1], alone.state.arm_joints[0])
    np.testing.assert_array_equal(together.state.object_position[1], alone.state.object_position[0])
    np.testing.assert_array_equal(together.render_depth()[1], alone.render_depth()[0])


def test_randomised_worlds_keep_the_contract(pick_episodes):
    randomise = Randomisation(friction=0.2, mass=0.3)
    config = SimulatorConfig(camera_size=48, randomise=randomise)
    check_simulator(lambda count: MujocoSimulator(count, config), pick_episodes)
