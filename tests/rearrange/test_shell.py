"""The shell over worlds that only count: what it adds is seen without a simulator."""

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from rearrange.errors import UserError
from rearrange.shell import TaskEnv, TaskVectorEnv
from tests.helpers.numbered import Numbered


class Counters:
    """Worlds that count up to a length, which their seed decides; the action is what each step is worth."""

    observation_space = spaces.Dict({"count": spaces.Box(0, 99, (1,), np.float32)})
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, count, repeat=1):
        self.repeat, self.episodes = repeat, [None] * count
        self.counts, self.asked = np.zeros(count), []
        self.closed = 0

    def reset(self, i, rng, seed=None, number=None):
        self.asked.append((i, seed, number))
        self.put(i, 2 + int(rng.integers(4)))

    def put(self, i, episode):
        if episode < 1:
            raise UserError("too short")
        self.episodes[i], self.counts[i] = episode, 0.0

    def take(self, action, shape):
        assert np.shape(action) == shape
        self.taken = np.reshape(action, -1)

    def step(self):
        self.counts += 1.0
        over = self.counts >= np.array(self.episodes, float)
        return self.taken.astype(float), over & (self.taken > 0), over & (self.taken <= 0)

    def observe(self):
        return {"count": self.counts[:, None].astype(np.float32)}

    def observe_again(self, observation, ids):
        observation["count"][ids] = self.counts[ids, None]
        return observation

    def metrics(self, i):
        return {"success": float(self.taken[i] > 0), "length": float(self.counts[i])}

    def close(self):
        self.closed += 1


class Single(TaskEnv):
    def _make_painter(self):
        drawn = []
        return lambda: np.array([drawn.append(0) or len(drawn)])


class Many(TaskVectorEnv):
    SINGLE = Single


ACTION = np.ones(1, np.float32)


def test_a_repeated_action_ends_with_the_episode_and_every_step_is_told():
    env, told = Single(Counters(1, repeat=3), None, None), []
    env.after_step = lambda env: told.append(float(env.observe()["count"][0]))
    env.reset(options={"episode": 4})
    assert env.episode == 4
    assert env.step(ACTION)[1:] == (3.0, False, False, {})
    observation, reward, *over, info = env.step(ACTION)
    assert (reward, over) == (1.0, [True, False])
    assert info == {"metrics": {"success": 1.0, "length": 4.0}, "is_success": True}
    assert observation["count"] == [4.0]
    assert told == [1.0, 2.0, 3.0, 4.0]


def test_a_seed_given_at_the_beginning_is_told_to_the_worlds():
    worlds = Counters(1)
    env = Single(worlds, 7, None)
    env.reset(options={"episode_number": 5})
    assert worlds.asked == [(0, 7, 5)]
    first = env.episode
    again = Single(Counters(1), None, None)
    again.reset(seed=7)
    assert again.episode == first


def test_a_refused_episode_leaves_the_one_before():
    env = Single(Counters(1), None, None)
    with pytest.raises(RuntimeError, match=r"call reset\(\) before using"):
        _ = env.episode
    with pytest.raises(RuntimeError, match=r"call reset\(\) before step"):
        env.step(ACTION)
    env.reset(options={"episode": 4})
    with pytest.raises(UserError, match="too short"):
        env.reset(options={"episode": -1})
    assert env.episode == 4


def test_every_episode_is_drawn_anew():
    assert Single(Counters(1), None, None).render() is None
    with pytest.raises(UserError, match="render_mode must be rgb_array or None, found 'human'"):
        Single(Counters(1), None, "human")
    env = Single(Counters(1), None, "rgb_array")
    with pytest.raises(RuntimeError, match="before render"):
        env.render()
    pictures = []
    for _ in range(2):
        env.reset(seed=0)
        pictures += [env.render()[0], env.render()[0]]
    assert pictures == [1, 2, 1, 2]


def test_worlds_side_by_side_begin_anew_where_they_end():
    worlds = Counters(3)
    env = Many(3, worlds)
    env.reset(seed=[5, 6, 7])
    worlds.episodes[:] = [1, 9, 1]
    actions = np.array([[1.0], [1.0], [-1.0]], np.float32)
    seen, rewards, terminated, truncated, infos = env.step(actions)
    assert rewards.tolist() == [1.0, 1.0, -1.0]
    assert terminated.tolist() == [True, False, False]
    assert truncated.tolist() == [False, False, True]
    assert seen["count"][:, 0].tolist() == [0.0, 1.0, 0.0]
    over = [True, False, True]
    assert [None if each is None else float(each["count"][0]) for each in infos["final_obs"]] == [
        1.0, None, 1.0,
    ]  # fmt: skip
    final = infos["final_info"]
    for mask in (infos["_final_obs"], final["_metrics"], final["_is_success"]):
        assert mask.tolist() == over
    assert final["is_success"].tolist() == [True, False, False]
    assert [None if each is None else each["length"] for each in final["metrics"]] == [1, None, 1]
    assert worlds.asked[3:] == [(0, 5, 1), (2, 7, 1)]


def test_a_world_that_ends_in_a_repeated_action_waits_for_the_others():
    worlds = Counters(2, repeat=3)
    env = Many(2, worlds)
    env.reset(seed=5)
    worlds.episodes[:] = [2, 9]
    seen, rewards, terminated, _, infos = env.step(np.ones((2, 1), np.float32))
    assert rewards.tolist() == [2.0, 3.0]
    assert terminated.tolist() == [True, False]
    assert seen["count"][:, 0].tolist() == [0.0, 3.0]
    assert infos["final_obs"][0]["count"].tolist() == [2.0]
    assert infos["final_info"]["metrics"][0] == {"success": 1.0, "length": 2.0}


def test_who_trains_says_which_episode_follows():
    class Backwards:
        seed = 40

        def beginning(self, world, number):
            return number, {"episode_number": number}

        def after(self, world, number, metrics):
            return number - int(metrics["length"])

    worlds = Counters(1)
    env = Many(1, worlds)
    env.begin(Backwards(), [30], [[]])
    worlds.episodes[0] = 2
    for _ in range(2):
        env.step(np.ones((1, 1), np.float32))
    assert worlds.asked == [(0, 40, 30), (0, 40, 28)]


def test_worlds_side_by_side_are_seeded_like_one_alone():
    worlds = Counters(2)
    env = Many(2, worlds)
    with pytest.raises(UserError, match="take Single"):
        env.reset(options={"episode": 4})
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.step(np.ones((2, 1), np.float32))
    env.reset(seed=40)
    assert worlds.asked == [(0, 40, 0), (1, 41, 0)]
    alone = Single(Counters(1), None, None)
    alone.reset(seed=41)
    assert worlds.episodes[1] == alone.episode
    env.close()
    assert worlds.closed == 1


@given(lengths=st.lists(st.integers(0, 5), min_size=1, max_size=4), more=st.integers(1, 8))
def test_worlds_go_on_in_the_middle_of_their_episodes(lengths, more):
    """As if each had stood alone all the time, and had been told seed and number of each episode."""
    count = len(lengths)
    order = Numbered(70, 100)
    alone, numbers = [], [3 + i for i in range(count)]
    for i in range(count):
        env = Single(Counters(1), None, None)
        env.reset(seed=order.beginning(i, numbers[i])[0])
        alone.append(env)
        lengths[i] = min(lengths[i], env.episode - 1)  # its end is not repeated
    actions = [[np.float32([1.0 + i - t]) for t in range(lengths[i])] for i in range(count)]
    returns = [
        sum(env.step(action)[1] for action in own) for env, own in zip(alone, actions, strict=True)
    ]
    worlds = Counters(count)
    together = Many(count, worlds)
    seen, found = together.begin(order, numbers, actions)
    assert found.tolist() == returns
    assert seen["count"][:, 0].tolist() == lengths
    for i, env in enumerate(alone):
        assert worlds.episodes[i] == env.episode
        assert [each for each in worlds.asked if each[0] == i][-1] == (i, 70 + i, numbers[i])
    for _ in range(more):
        seen, _, terminated, _, _ = together.step(np.ones((count, 1), np.float32))
        for i, env in enumerate(alone):
            observation, _, ended, _, _ = env.step(ACTION)
            assert ended == terminated[i]
            if ended:
                numbers[i] += 1
                observation, _ = env.reset(seed=order.beginning(i, numbers[i])[0])
                assert worlds.asked[-count:].count((i, 70 + i, numbers[i])) == 1
            assert seen["count"][i] == observation["count"]


def test_an_episode_that_does_not_last_as_long_as_before_is_told():
    together = Many(2, Counters(2))
    with pytest.raises(RuntimeError, match="ended while its actions were repeated"):
        together.begin(Numbered(0), [1, 1], [[ACTION], [ACTION] * 6])
    seeds = together.reset(seed=40)  # from now on a generator of each world decides, as ever
    assert seeds[0]["count"].tolist() == [[0.0], [0.0]]
    assert together._worlds.asked[-2:] == [(0, 40, 0), (1, 41, 0)]
