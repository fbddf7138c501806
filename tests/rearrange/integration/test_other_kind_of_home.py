"""A kind of home that none of our code knows: tests/helpers/bedsit.py."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rearrange.env import RearrangeEnv, RearrangeVectorEnv
from rearrange.episodes import EpisodeSet
from rearrange.episodes.schema import record_of
from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.scenes import APARTMENT, Furniture, SceneSpec, register_homes
from rearrange.scenes.registry import GROUP, spec_of_layout, unregister_homes
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.tasks import make_task
from rearrange.tasks.open_close import OpenCab
from rearrange.testing import check_simulator
from tests.helpers.bedsit import BEDSIT, DOOR, DRAWER

SMALL = SimulatorConfig(camera_size=16)


@pytest.fixture(scope="module", autouse=True)
def registered():
    register_homes(BEDSIT)
    yield
    unregister_homes(BEDSIT)


def sampled(task: str, count: int, split: str = "train"):
    made, rng = make_task(task, scene=BEDSIT), np.random.default_rng(0)
    return [made.sample_episode(f"bedsit/{split}", rng) for _ in range(count)]


def test_the_record_has_the_sizes_of_the_home():
    env = RearrangeEnv("pick", split="val", simulator=SMALL, homes="bedsit")
    env.reset(seed=0)
    assert env.state.object_position.shape == (1, 6, 3)
    assert env.state.handle_position.shape == (1, 2, 3)
    assert spec_of_layout(env.apartment.layout) is BEDSIT


@pytest.mark.parametrize(
    ("task", "part"),
    [
        *((task, DRAWER) for task in ("open_cab", "close_cab")),
        *((task, DOOR) for task in ("open_fridge", "close_fridge")),
    ],
)
def test_opening_and_closing_are_about_the_parts_that_name_them(task, part):
    env = RearrangeEnv(task, split="val", simulator=SMALL, homes="bedsit")
    env.reset(seed=1)
    assert env.episode.target_joint == part.name
    assert env.episode.targets[0].start_receptacle == part.receptacle
    low, high = env.task.config.start_joint_low, env.task.config.start_joint_high
    value = env.state.articulated_joints[0, BEDSIT.index(part.name)]
    assert low - 0.01 <= value <= min(high, part.range[1]) + 0.01
    env.action_space.seed(0)
    for _ in range(3):
        observation, _, terminated, *_ = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        if terminated:
            env.reset()


def test_a_task_may_name_its_part():
    class OpenCupboard(OpenCab):
        name, part = "open_cupboard", DOOR.name

    assert OpenCupboard(scene=BEDSIT).parts == (DOOR,)
    with pytest.raises(UserError, match=r"cupboard_door.*apartment.*fridge_door"):
        OpenCupboard(scene=APARTMENT)


def test_handles_are_where_the_spec_says():
    simulator = MujocoSimulator(1, SMALL, BEDSIT)
    episode = sampled("pick", 1)[0]
    frame = load_layout(episode.layout, episode.variation)[0].frames["dresser"]
    for part in BEDSIT.parts:
        for value in (0.0, 0.3):
            simulator.reset([0], [replace(episode, articulated={part.name: value})])
            place = simulator.state.handle_position[0, BEDSIT.index(part.name), :2]
            assert place - frame.position[:2] == pytest.approx(part.handle_at(value), abs=0.005)


def test_it_conforms():
    episodes = sampled("pick", 6)
    assert len({episode.layout for episode in episodes}) > 1
    check_simulator(lambda count: MujocoSimulator(count, SMALL, BEDSIT), episodes)


def test_worlds_side_by_side_and_a_chore():
    env = RearrangeVectorEnv(2, "tidy_house", split="val", simulator=SMALL, homes="bedsit")
    observation, _ = env.reset(seed=0)
    assert observation["obj_start_sensor"].shape == (2, 15)
    env.step(env.action_space.sample())


def test_a_chore_says_what_the_home_lacks():
    env = RearrangeEnv("set_table", split="val", simulator=SMALL, homes="bedsit")
    with pytest.raises(UserError, match=r"bedsit have no object '024_bowl', only .*mug"):
        env.reset(seed=0)


def test_its_episodes_are_saved_and_checked(tmp_path):
    episodes = tuple(
        replace(episode, episode_id=f"val/{k}")
        for k, episode in enumerate(sampled("open_fridge", 2, "val"))
    )
    places = {(episode.layout, episode.variation) for episode in episodes}
    apartments = {place: record_of(load_layout(*place)[0]) for place in places}
    path = tmp_path / "val.json.gz"
    EpisodeSet("open_fridge", "val", 0, "a test", apartments, episodes).save(path)
    loaded = EpisodeSet.load(path, "open_fridge", "val", "bedsit")
    assert loaded.episode(1).target_joint == DOOR.name
    env = RearrangeEnv("open_fridge", split="val", simulator=SMALL, homes="bedsit")
    env.reset(options={"episode": loaded.episode(0)})
    wrong = replace(episodes[0], articulated={"fridge_door": 1.0})
    with pytest.raises(UserError, match=r"articulated.*dresser_drawer, cupboard_door.*fridge_door"):
        env.reset(options={"episode": wrong})


def test_a_simulator_of_another_kind_is_refused():
    apartments = MujocoSimulator(1, SMALL)
    with pytest.raises(UserError, match=r"kind apartment, but homes=bedsit are of kind bedsit"):
        RearrangeEnv("pick", split="val", simulator=apartments, homes="bedsit")
    with pytest.raises(UserError, match=r"is a home of kind bedsit.*made for apartment"):
        apartments.reset([0], sampled("pick", 1))


def changed(**changes) -> SceneSpec:
    return replace(BEDSIT, **changes)


@pytest.mark.parametrize(
    ("homes", "layouts", "complaint"),
    [
        ("classic", {"train": (1,), "val": (2,), "test": (3,)}, "'classic'.*there are such homes"),
        (
            "hut",
            {"train": (9100,), "val": (5000,), "test": (9101,)},
            "5000 is of homes 'generated'",
        ),
        ("hut", {"train": (9100,)}, "splits must be train, val, test, not train"),
    ],
)
def test_what_would_hide_other_homes_is_refused(homes, layouts, complaint):
    with pytest.raises(UserError, match=complaint):
        register_homes(changed(layouts={homes: layouts}))


@pytest.mark.parametrize("lacking", ["furniture", "objects"])
def test_a_home_needs_something_to_do(lacking):
    with pytest.raises(UserError, match=f"bedsit: {lacking}: at least one"):
        changed(**{lacking: ()})


def test_a_part_that_shuts_nothing_is_no_task():
    plain = replace(DRAWER, receptacle="")
    (dresser,) = BEDSIT.furniture
    piece = Furniture(name="dresser", size=dresser.size, build=dresser.build, parts=(plain,))
    with pytest.raises(UserError, match="dresser_drawer shuts no receptacle"):
        make_task("open_cab", scene=changed(furniture=(piece,)))
    with pytest.raises(UserError, match=r"open_fridge: no part .* \(dresser_drawer: open_cab"):
        make_task("open_fridge", scene=changed(furniture=(piece,)))


def test_another_package_s_homes_are_found_by_their_entry_point(tmp_path):
    about = tmp_path / "bedsit-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: bedsit\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\nbedsit = tests.helpers.bedsit:BEDSIT\n")
    root = Path(__file__).resolve().parents[3]
    path = os.pathsep.join(map(str, (root, tmp_path)))
    program = "from rearrange.scenes.registry import spec_of_layout as s; print(s(9003).name)"
    told = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "bedsit"
