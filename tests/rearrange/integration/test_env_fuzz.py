"""Whatever is given to `step`, the answer is a legal step or a clear exception, and the world goes on."""

import dataclasses

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rearrange import RearrangeEnv, RearrangeVectorEnv, SimulatorConfig, default_config
from rearrange.tasks import sampling

SMALL = SimulatorConfig(camera_size=8)
COUNT = 2
BOUNDED = settings(
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
CLEAR = (ValueError, ResetNeeded)  # UserError is a ValueError


@pytest.fixture(scope="module", autouse=True)
def few_apartments():
    """The vector environment samples its next episodes itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "VARIATION_COUNT", 1)
        yield


@pytest.fixture(scope="module")
def single(few_apartments):
    config = dataclasses.replace(default_config("pick"), max_steps=40)
    return RearrangeEnv("pick", config, "val", SMALL)


@pytest.fixture(scope="module")
def vector(few_apartments):
    config = dataclasses.replace(default_config("pick"), max_steps=40)
    return RearrangeVectorEnv(COUNT, "pick", config, "val", SMALL)


def running(env):
    env.reset(seed=1)
    return env


def steps_or_complains(env, action):
    """Whether the step was legal; afterwards a proper one always is."""
    try:
        observation, reward, terminated, truncated, _ = env.step(action)
    except CLEAR as error:
        message = str(error)
        assert len(message) > 10
        legal = False
    else:
        assert env.observation_space.contains(observation)
        assert np.isfinite(reward).all()
        assert np.isin(terminated, (True, False)).all()
        assert np.isin(truncated, (True, False)).all()
        legal = True
        if np.any(terminated | truncated):  # those side by side have begun anew themselves
            running(env)
    still = np.zeros(env.action_space.shape, np.float32)
    observation, reward, terminated, truncated, _ = env.step(still)
    assert env.observation_space.contains(observation)
    assert np.isfinite(reward).all()
    if np.any(terminated | truncated):
        running(env)
    return legal


def shapes_of(env):
    """The right shape most of the time."""
    return st.just(env.action_space.shape) | hnp.array_shapes(min_dims=0, max_dims=3, max_side=12)


NUMBERS = st.floats(width=64) | st.sampled_from([1e308, -1e308, 5e-324, -0.0, np.nan, np.inf])
WRONG = {
    "none": None,
    "text": "forward",
    "bytes": b"\x00" * 10,
    "empty": [],
    "dictionary": {"arm": 0.0},
    "function": len,
    "object": object(),
    "texts": ["0.5 m"] * 10,
    "nones": [None] * 10,
    "ragged": [[0.0], [0.0, 1.0]],
    "too short": np.zeros(9),
    "too long": np.zeros(11),
    "too many": np.zeros((5, 10)),
    "nan": np.full(10, np.nan),
    "infinite": np.full(10, np.inf),
    "one nan": np.array([0.0] * 9 + [np.nan]),
    "scalar": 0.5,
    "complex": np.zeros(10, complex),
    "dates": np.zeros(10, "datetime64[s]"),
    "beyond floats": np.array([10**400] * 10, dtype=object),
}
HARMLESS = {
    "huge": 1e308,
    "tiny": 5e-324,
    "integers": np.int8(-128),
    "booleans": np.True_,
    "half precision": np.float16(0.5),
    "long precision": np.longdouble(0.5),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("kind", ["single", "vector"])
def test_wrong_actions_are_refused(request, kind, case):
    assert not steps_or_complains(running(request.getfixturevalue(kind)), WRONG[case])


@pytest.mark.parametrize("case", HARMLESS)
@pytest.mark.parametrize("kind", ["single", "vector"])
def test_unusual_numbers_are_legal(request, kind, case):
    env = running(request.getfixturevalue(kind))
    assert steps_or_complains(env, np.full(env.action_space.shape, HARMLESS[case]))


def test_huge_actions_are_those_at_the_limit(single):
    rewards = []
    for scale in (1.0, 1e300):
        running(single)
        rewards.append(single.step(np.full(10, scale))[1])
    assert rewards[0] == rewards[1]


@BOUNDED
@given(data=st.data())
def test_any_array_of_floats(single, data):
    if single._worlds.episodes[0] is None or data.draw(st.integers(0, 20)) == 0:
        running(single)
    shape = data.draw(shapes_of(single))
    steps_or_complains(single, data.draw(hnp.arrays(np.float64, shape, elements=NUMBERS)))


@BOUNDED
@given(data=st.data())
def test_any_array_of_floats_for_many_worlds(vector, data):
    if vector._worlds.episodes[0] is None or data.draw(st.integers(0, 20)) == 0:
        running(vector)
    shape = data.draw(shapes_of(vector))
    steps_or_complains(vector, data.draw(hnp.arrays(np.float64, shape, elements=NUMBERS)))


@BOUNDED
@given(data=st.data())
def test_any_dtype(single, data):
    if single._worlds.episodes[0] is None:
        running(single)
    dtype = data.draw(hnp.scalar_dtypes() | hnp.byte_string_dtypes() | hnp.unicode_string_dtypes())
    steps_or_complains(single, data.draw(hnp.arrays(dtype, data.draw(shapes_of(single)))))


@pytest.mark.parametrize("task", ["pick", "tidy_house"])
def test_after_the_end_only_a_plan_goes_on(task):
    config = dataclasses.replace(default_config(task), max_steps=2)
    env = RearrangeEnv(task, config, "val", SMALL)
    env.reset(seed=0)
    action = np.zeros(env.task.action_size, np.float32)
    assert [env.step(action)[3] for _ in range(2)] == [False, True]
    with pytest.raises(ResetNeeded, match="the episode is over"):
        env.step(action)
    still = np.zeros(env.robot.actions.physical_size)
    assert [env.step_physical(still)[2] for _ in range(3)] == [True] * 3
    with pytest.raises(ResetNeeded, match="the episode is over"):
        env.step(action)
    assert steps_or_complains(running(env), action)


@pytest.mark.parametrize("kind", [RearrangeEnv, lambda **options: RearrangeVectorEnv(2, **options)])
def test_steps_before_reset_are_refused(kind):
    env = kind(task="pick", split="val", simulator=SMALL)
    for action in (np.zeros(env.action_space.shape), np.full(env.action_space.shape, np.nan)):
        with pytest.raises(CLEAR, match=r"reset|finite"):
            env.step(action)
    env.reset(seed=0)
    assert steps_or_complains(env, np.zeros(env.action_space.shape))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_physical_steps_must_be_finite(single, value):
    running(single)
    for place in (0, 7, 8, 9):
        action = np.zeros(10)
        action[place] = value
        with pytest.raises(ValueError, match="finite"):
            single.step_physical(action)
    assert np.isfinite(single.state.base_pose).all()
    assert steps_or_complains(single, np.zeros(10))
