"""The MuJoCo side: one topology for all apartments, things that stay at rest and fall asleep."""

from functools import lru_cache

import mujoco
import numpy as np
import pytest

from rearrange.scenes import (
    LAYOUTS_OF_SPLIT,
    OBJECT_BIT,
    ROBOT_BIT,
    ROBOT_COLLIDES_WITH,
    STATIC_BIT,
    Apartment,
    apartments_of_split,
    build_spec,
    footprint_radius,
    generate_apartment,
    half_height,
)
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.compile import write_apartment

SAMPLE = [(0, 0), (1, 9), (2, 14), (3, 5), (4, 20), (8, 17)]


@lru_cache(maxsize=len(SAMPLE))
def compiled(name: tuple[int, int]) -> mujoco.MjModel:
    """Shared by the tests, which change MjData only."""
    return build_spec(generate_apartment(*name)).compile()


def topology(model: mujoco.MjModel) -> tuple:
    names = [model.geom(i).name for i in range(model.ngeom)]
    names += [model.body(i).name for i in range(model.nbody)]
    names += [model.joint(i).name for i in range(model.njnt)]
    arrays = (
        model.geom_type,
        model.geom_bodyid,
        model.body_parentid,
        model.jnt_type,
        model.jnt_bodyid,
    )
    return tuple(names), tuple(a.tobytes() for a in arrays)


def stand_objects(
    apartment: Apartment, model: mujoco.MjModel, data: mujoco.MjData
) -> dict[int, np.ndarray]:
    """Put up to three objects on each receptacle, footprints inside the rectangle; slot -> pose."""
    rng = np.random.default_rng(0)
    placed: dict[int, np.ndarray] = {}
    free = list(range(len(APARTMENT.slot_kinds)))
    for receptacle in apartment.receptacles.values():
        taken: list[tuple[np.ndarray, float]] = []
        for _ in range(60):
            if not free or len(taken) == 3:
                break
            slot = int(rng.choice(free))
            radius, half = (
                footprint_radius(APARTMENT.slot_kinds[slot]),
                half_height(APARTMENT.slot_kinds[slot]),
            )
            room = np.array(receptacle.half_extents) - radius
            if (room < 0).any() or 2 * half > receptacle.clearance:
                continue
            spot = rng.uniform(-1, 1, 2) * room
            if any(np.hypot(*(spot - other)) < radius + r + 0.005 for other, r in taken):
                continue
            taken.append((spot, radius))
            c, s = np.cos(receptacle.yaw), np.sin(receptacle.yaw)
            x, y, z = receptacle.position
            qpos = data.joint(APARTMENT.object_bodies[slot]).qpos
            qpos[:3] = (x + c * spot[0] - s * spot[1], y + s * spot[0] + c * spot[1], z + half)
            qpos[3:] = (np.cos(receptacle.yaw / 2), 0, 0, np.sin(receptacle.yaw / 2))
            placed[slot] = qpos.copy()
            free.remove(slot)
        assert taken, receptacle.name
    return placed


def test_all_apartments_share_one_topology():
    first = topology(compiled(SAMPLE[0]))
    for name in SAMPLE[1:]:
        assert topology(compiled(name)) == first


@pytest.mark.slow
def test_the_apartments_of_all_splits_share_one_topology():
    first = topology(compiled((0, 0)))
    for split in LAYOUTS_OF_SPLIT:
        for name in apartments_of_split(split):
            assert topology(compiled(name)) == first


def test_names_and_order():
    model = compiled((0, 0))
    first = model.body(APARTMENT.object_bodies[0]).id
    names = [model.body(first + slot).name for slot in range(len(APARTMENT.objects))]
    assert names == list(APARTMENT.object_bodies)
    for joint in APARTMENT.joints:
        assert model.joint(joint).range[0] == 0.0
        assert model.geom_bodyid[model.geom(f"handle_{joint}").id] == model.body(joint).id
    assert model.nu == 0


def test_statics_never_collide_with_each_other():
    model = compiled((3, 5))
    static = model.body_weldid[model.geom_bodyid] == 0
    assert (model.geom_conaffinity[static] == 0).all()
    assert set(model.geom_contype[static]) <= {0, STATIC_BIT}
    assert ROBOT_COLLIDES_WITH & STATIC_BIT
    assert ROBOT_COLLIDES_WITH & OBJECT_BIT
    assert not ROBOT_COLLIDES_WITH & ROBOT_BIT


def test_unused_objects_rest_where_they_are_parked():
    model = compiled((1, 9))
    data = mujoco.MjData(model)
    for _ in range(120):
        mujoco.mj_step(model, data)
    for slot, body in enumerate(APARTMENT.object_bodies):
        assert np.allclose(data.body(body).xpos, APARTMENT.parked_position(slot), atol=2e-3)
    assert not (data.tree_awake > 0).any()


@pytest.mark.parametrize("name", SAMPLE)
def test_objects_stay_at_rest_and_fall_asleep(name):
    apartment, model = generate_apartment(*name), compiled(name)
    data = mujoco.MjData(model)
    placed = stand_objects(apartment, model, data)
    assert len(placed) >= 20
    for step in range(240):
        mujoco.mj_step(model, data)
        if step == 60:
            assert not (data.tree_awake > 0).any()
    for slot, start in placed.items():
        qpos = data.joint(APARTMENT.object_bodies[slot]).qpos
        assert np.linalg.norm(qpos[:3] - start[:3]) < 2e-3, (slot, APARTMENT.slot_kinds[slot])
        assert abs(qpos[3:] @ start[3:]) > 1 - 1e-5


def test_door_and_drawers_move_freely_and_stay_where_left():
    model = compiled((2, 14))
    data = mujoco.MjData(model)
    for name in APARTMENT.joints:
        joint = data.joint(name)
        end = float(model.joint(name).range[1])
        for _ in range(300):
            joint.qfrc_applied[:] = 5.0 if name == "fridge_door" else 12.0
            mujoco.mj_step(model, data)
        assert joint.qpos[0] > 0.95 * end, name
        joint.qfrc_applied[:] = 0.0
        joint.qvel[:] = 0.0
        joint.qpos[:] = 0.6 * end
        for _ in range(120):
            mujoco.mj_step(model, data)
        assert joint.qpos[0] == pytest.approx(0.6 * end, abs=0.01)
    assert not (data.tree_awake > 0).any()


def test_objects_ride_in_the_drawer():
    apartment, model = generate_apartment(0, 0), compiled((0, 0))
    data = mujoco.MjData(model)
    receptacle = apartment.receptacles["drawer_right_top"]
    slot = APARTMENT.slot_kinds.index("024_bowl")
    qpos = data.joint(APARTMENT.object_bodies[slot]).qpos
    qpos[:3] = receptacle.position
    qpos[2] += half_height("024_bowl")
    joint = data.joint("drawer_right_top")
    for _ in range(240):
        joint.qfrc_applied[:] = 4.0
        mujoco.mj_step(model, data)
    out = np.array([np.cos(receptacle.yaw), np.sin(receptacle.yaw)])
    moved = (data.body(APARTMENT.object_bodies[slot]).xpos[:2] - receptacle.position[:2]) @ out
    assert joint.qpos[0] > 0.4
    assert abs(moved - joint.qpos[0]) < 0.12  # it may slide, but stays in the drawer


def test_a_heap_of_dropped_objects_comes_to_rest():
    apartment, model = generate_apartment(0, 0), compiled((0, 0))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    x, y, z = apartment.receptacles["table_01"].position
    for index in range(12):
        qpos = data.joint(APARTMENT.object_bodies[index * 7 % 30]).qpos
        dx, dy = rng.uniform(-0.2, 0.2, 2)
        qpos[:3] = (x + dx, y + dy, z + 0.1 + 0.12 * index)
    for _ in range(480):
        mujoco.mj_step(model, data)
    assert not (data.tree_awake > 0).any()


@pytest.mark.parametrize(("name", "speed"), [("fridge_door", 3.0), ("drawer_right_top", 1.0)])
def test_what_is_slammed_stays_shut(name, speed):
    model = build_spec(generate_apartment(0, 0)).compile()
    data = mujoco.MjData(model)
    joint = data.joint(name)
    joint.qpos[:], joint.qvel[:] = 0.2, -speed
    for _ in range(int(1.0 / model.opt.timestep)):
        mujoco.mj_step(model, data)
    assert abs(joint.qpos[0]) < 0.01


def fields(model: mujoco.MjModel) -> dict[str, np.ndarray]:
    """All arrays of a model by name."""
    found = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def test_apartment_written_over_another_is_the_one_that_is_built():
    spec = build_spec(generate_apartment(1000, 3))
    spec.compile()
    for name in ((0, 0), (3, 5), (1001, 2)):
        write_apartment(spec, generate_apartment(*name))
        written, built = fields(spec.compile()), fields(compiled(name))
        assert set(written) == set(built)
        for field, value in built.items():
            np.testing.assert_array_equal(written[field], value, field)


def test_colours_of_fridge_and_cabinet_are_the_apartments():
    apartment, model = generate_apartment(0, 0), compiled((0, 0))
    colors = apartment.colors
    dark = (*(0.8 * np.array(colors["cabinet"][:3])), 1.0)
    for geom, color in (
        ("fridge_door_panel", colors["fridge"]),
        ("handle_fridge_door", colors["handle"]),
        ("handle_drawer_bottom", colors["handle"]),
        ("cabinet_top", colors["worktop"]),
        ("drawer_middle_front", colors["cabinet"]),
        ("drawer_middle_floor", dark),
        ("cabinet_back", dark),
    ):
        np.testing.assert_allclose(model.geom(geom).rgba, color, atol=1e-6)
