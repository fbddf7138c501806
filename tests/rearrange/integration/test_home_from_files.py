"""Episodes in a home from files, see tests/helpers/file_home.py."""

import os
import pickle
import re
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.episodes import EpisodeSet
from rearrange.errors import UserError
from rearrange.scenes.registry import spec_of_homes
from rearrange.sim import SimulatorConfig
from rearrange.tasks import make_task
from rearrange.tasks.sampling import at_home, source_of
from rearrange.view.command import main as view
from tests.helpers.file_home import WORDS, known_home

SMALL = SimulatorConfig(camera_size=16)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with known_home(tmp_path_factory.mktemp("villa"), "villa") as found:
        yield found


@pytest.mark.parametrize(
    "task",
    [
        "pick",
        "close_fridge",
        *(pytest.param(t, marks=pytest.mark.slow) for t in ("place", "open_cab")),
    ],
)
def test_episodes_are_sampled_and_played(path, task):
    env = RearrangeEnv(task, split="val", simulator=SMALL, homes=path)
    observation, _ = env.reset(seed=0)
    assert env.apartment.bounds[2:] == pytest.approx((5.2, 4.2))
    assert observation["head_depth"].std() > 0.0
    env.action_space.seed(0)
    for _ in range(3):
        observation, _, terminated, *_ = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        if terminated:
            env.reset()


def test_gymnasium_makes_it_from_a_path(path):
    env = gymnasium.make("rearrange/Pick-v0", homes=path, split="train", camera_size=16)
    env.reset(seed=3)
    env.close()


def test_a_source_of_episodes_has_its_name(path):
    assert source_of("val", path) == "villa/val"
    assert at_home(source_of("val", path), (0, 0)).count("/") == 3


def test_its_episodes_are_saved_under_its_name(path, tmp_path):
    task, rng = make_task("pick", scene=spec_of_homes(path)), np.random.default_rng(0)
    episodes = [
        replace(task.sample_episode("villa/val", rng), episode_id=f"val/{k}") for k in range(2)
    ]
    assert {episode.variation for episode in episodes} == {0}
    file = tmp_path / "val.json.gz"
    EpisodeSet.of("pick", "val", 0, "a test", episodes).save(file)
    assert EpisodeSet.load(file, "pick", "val", path).homes == "villa"
    assert pickle.loads(pickle.dumps(episodes[0])) == episodes[0]


def test_view_draws_it(path, tmp_path):
    sheet = tmp_path / "sheet.png"
    assert view(["homes", "--homes", path, "--output", str(sheet)]) == 0
    assert os.path.getsize(sheet) > 1000


def sample(task, path, **settings):
    """Draw ten starts of a task in a home."""
    made = make_task(task, scene=spec_of_homes(path))
    config, rng = replace(made.config, **settings), np.random.default_rng(0)
    made = make_task(task, config, scene=spec_of_homes(path))
    return [made.sample_episode(source_of("val", path), rng) for _ in range(10)]


def test_where_nothing_is_shut_all_starts_are_in_the_open(tmp_path):
    words = re.sub(r", shuts: \w+|  in_.*\n", "", WORDS)
    with known_home(tmp_path, "loft", words=words) as path:
        assert len(sample("pick", path, open_share=1.0)) == 10
        assert len(sample("navigate", path, closed_share=1.0)) == 10


def test_a_drawer_into_which_no_object_fits_is_named(tmp_path):
    words = "objects: [003_cracker_box, 003_cracker_box]\n" + WORDS
    with (
        known_home(tmp_path, "den", words=words) as path,
        pytest.raises(UserError, match=r"receptacles\.in_drawer: no object fits"),
    ):
        sample("open_cab", path)
