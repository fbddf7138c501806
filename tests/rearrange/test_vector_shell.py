"""The shell over worlds side by side that only count."""

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given
from hypothesis import strategies as st

from rearrange.errors import UserError
from tests.helpers.counters import Counters, Many, Single
from tests.helpers.numbered import Numbered

ACTION = np.ones(1, np.float32)


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
    masks = infos["_final_obs"], infos["_final_info"], final["_metrics"], final["_is_success"]
    for mask in masks:
        assert mask.tolist() == over
    assert final["is_success"].tolist() == [True, False, False]
    assert [None if each is None else each["length"] for each in final["metrics"]] == [1, None, 1]
    assert worlds.asked[3:] == [(0, 5, 1), (2, 7, 1)]


def test_worlds_that_nobody_has_seeded_differ_from_each_other_and_from_others():
    seeds = [each for _ in range(2) for each in Many(3, Counters(3)).np_random_seed]
    assert len(set(seeds)) == 6


@pytest.mark.parametrize(("repeat", "rate"), [(1, 30), (3, 10), (4, 7.5)])
def test_pictures_come_with_actions(repeat, rate):
    assert Many(2, Counters(2, repeat=repeat)).metadata["render_fps"] == rate
    assert Single(Counters(1, repeat=repeat), 0, None).metadata["render_fps"] == rate
    assert Many.metadata["render_fps"] == 30


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
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before step"):
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


def test_every_world_is_drawn_and_anew_in_every_episode():
    with pytest.raises(UserError, match=r"^render_mode must be rgb_array or None, found 'human'$"):
        Many(2, Counters(2), "human")
    worlds = Counters(2)
    assert Many(2, worlds).render() is None
    env = Many(2, worlds, "rgb_array")
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before render"):
        env.render()
    env.reset(seed=0)
    worlds.episodes[:] = [1, 9]
    assert [picture.tolist() for picture in env.render()] == [[0, 1], [1, 1]]
    env.step(np.ones((2, 1), np.float32))
    assert [picture.tolist() for picture in env.render()] == [[0, 1], [1, 2]]


@pytest.mark.parametrize("seed", [-1, 1.5, "12", [1], [1, 2, 3], [1, None], [1, -2], [1.0, 2.0]])
def test_seeds_that_are_none_are_refused_and_change_nothing(seed):
    env = Many(2, Counters(2))
    env.reset(seed=40)
    with pytest.raises(
        UserError, match=r"^seed must be a whole number from 0, or 2 of them, .* found "
    ):
        env.reset(seed=seed)
    assert env.np_random_seed == (40, 41)


def test_seeds_and_generators_are_told_as_gymnasium_tells_them():
    env = Many(2, Counters(2))
    env.reset(seed=np.array([7, 3]))
    assert env.np_random_seed == (7, 3)
    alone = Single(Counters(1), None, None)
    alone.reset(seed=3)
    assert env.np_random[1].bit_generator.state == alone.np_random.bit_generator.state


def test_unknown_options_are_refused():
    worlds = Counters(2)
    env = Many(2, worlds)
    for name in ("reset_mask", "episode_number"):
        with pytest.raises(
            UserError, match=rf"^unknown option '{name}' of reset: there is none here$"
        ):
            env.reset(options={name: np.array([True, False])})
    assert worlds.asked == []
    env.reset(options={"episode": None})
