"""A hand-made episode given to `reset` is set up, or refused in one line that names the field."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rearrange import RearrangeEnv, SimulatorConfig
from rearrange.episodes import Episode, EpisodeSet, Target, check_episode, default_path
from rearrange.errors import UserError
from rearrange.robot.fetch import FETCH
from rearrange.tasks import TASKS, make_task

SHIPPED = EpisodeSet.load(default_path("pick", "val")).episodes
# One apartment, and few objects, so that every field is hit often.
EPISODE = dataclasses.replace(
    SHIPPED[0],
    objects={s: p for s, p in SHIPPED[0].objects.items() if s in (0, SHIPPED[0].targets[0].slot)},
)
FIELDS = [field.name for field in dataclasses.fields(Episode)]
TARGET_FIELDS = [field.name for field in dataclasses.fields(Target)]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["sofa", "fridge_door", np.float64(1.5), np.int64(3), np.nan, object()])
)
ARRAYS = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=2, max_side=8),
)
VALUES = st.recursive(
    LEAVES | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=9)
        | st.lists(inner, max_size=9).map(tuple)
        | st.dictionaries(st.integers(-2, 32) | st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def world():
    return RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=8))


def resets_or_complains(world, episode, field):
    """Whether the world could be set up."""
    try:
        observation, _ = world.reset(options={"episode": episode})
    except UserError as error:
        message = str(error)
        assert "\n" not in message
        assert len(message) < 1000
        # Without its object a target is wrong.
        assert field in message or (field == "objects" and "targets" in message)
        return False
    assert world.observation_space.contains(observation)
    return True


@given(data=st.data())
@settings(max_examples=120, derandomize=True,
          suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])  # fmt: skip
def test_whatever_stands_in_a_field(world, data):
    field = data.draw(st.sampled_from(FIELDS))
    value = data.draw(VALUES)
    if field == "targets" and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(TARGET_FIELDS))
        value = (dataclasses.replace(EPISODE.targets[0], **{name: value}),)
    if field == "objects" and data.draw(st.booleans()):
        slot = data.draw(st.sampled_from(sorted(EPISODE.objects)) | st.integers(-2, 31))
        value = {**EPISODE.objects, slot: value}
    resets_or_complains(world, dataclasses.replace(EPISODE, **{field: value}), field)


WRONG = {
    "layout": (11, "layout"),
    "variation": (21, "variation"),
    "base_pose": ((1.0, 1.0, float("nan")), r"base_pose\[2\]"),
    "arm_joints": ((0.0,) * 6, "arm_joints: expected a list of 7 numbers"),
    "objects": ({0: (1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0)}, r"objects\[0\] pose"),
    "targets": ((), "targets: expected at least 1 of them, found 0"),
    "articulated": ({"fridge_door": 9.0}, "articulated.fridge_door"),
    "held_slot": (30, "held_slot"),
    "target_joint": ("door", "target_joint"),
}


@pytest.mark.parametrize("field", WRONG)
def test_what_is_wrong_is_named(field):
    value, message = WRONG[field]
    episode = dataclasses.replace(SHIPPED[0], **{field: value})
    with pytest.raises(UserError, match=message):
        check_episode(episode, None, FETCH)


def test_a_scenario_needs_all_its_targets(world):
    with pytest.raises(UserError, match="targets: expected 5 of them, found 1"):
        RearrangeEnv("tidy_house", split="val", simulator=SimulatorConfig(camera_size=8)).reset(
            options={"episode": EPISODE}
        )
    with pytest.raises(UserError, match="expected an Episode, found dict"):
        world.reset(options={"episode": {}})


def test_numpy_and_lists_are_taken(world):
    x, y, yaw = EPISODE.base_pose
    changed = dataclasses.replace(
        EPISODE,
        base_pose=[np.float64(x), y, yaw],
        arm_joints=np.array(EPISODE.arm_joints),
        objects={np.int64(slot): np.array(pose) for slot, pose in EPISODE.objects.items()},
    )
    assert resets_or_complains(world, changed, "")


@pytest.mark.parametrize("task", TASKS)
def test_what_tasks_sample_is_sound(task):
    logic = make_task(task)
    rng = np.random.default_rng(5)
    for split in ("train", "val"):
        count = getattr(logic, "target_count", None)
        check_episode(logic.sample_episode(split, rng), count, FETCH)
