"""Scenes that agents share: the order in which they come, repeats, going on, and what goes wrong."""

import gc
import os
import signal
import threading
import time
import weakref
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from nav import env as nav_env
from nav import sharing as nav_sharing
from nav.agent import AgentConfig
from nav.buildings import building_names, load_building
from nav.env import NavVectorEnv
from nav.episode_files import ScanEpisodes
from nav.scan import sample_episode
from nav.scan_worlds import ScanWorlds
from nav.scene import Scene
from nav.sharing import Loader, SharedScenes, Sharing
from nav.table import TASKS, default_config, make_task
from nav.worlds import AgentWorlds
from rearrange.errors import UserError
from tests.helpers.file_home import known_home
from tests.helpers.loads import Named
from tests.helpers.numbered import Numbered
from tests.helpers.scanned import box, hall, room, write
from tests.nav.conftest import HALLS

SMALL = AgentConfig(camera_size=8)
NAMES = ["a", "b", "c", "d", "e"]


@pytest.fixture
def share():
    made = []

    def make(count=2, steps=10, names=NAMES, **load):
        made.append(SharedScenes(names, Sharing(count, steps), Named(**load)))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenes")
    for n in range(4):
        crate = box((2.0 + n, 1.0, 0.0), (2.5 + n, 1.5, 1.0))
        write(path / f"room{n}.glb", [*room(7.0, 5.0 + n), crate])
    return path


def watch(shared, steps, agents=4):
    """Where episodes would begin after each step."""
    rows = []
    for _ in range(steps):
        rows.append([shared.of(i)[0] for i in range(agents)])
        shared.tick()
    return rows


def test_scenes_come_one_by_one_in_an_order_that_the_seed_decides(share):
    shared = share()
    shared.restart(3)
    rows = watch(shared, 50)
    for row in rows:
        assert row[0] == row[2] != row[1] == row[3]
    changes = [n for n in range(1, 50) if rows[n] != rows[n - 1]]
    assert changes == [5, 10, 15, 20, 25, 30, 35, 40, 45]
    came = [rows[0][0], rows[0][1]]
    came += [next(name for name in rows[n] if name not in rows[n - 1]) for n in changes]
    assert sorted(came[:5]) == NAMES  # each once, before any comes again
    assert came[5:10] == came[:5]
    assert shared.replaced == 10
    shared.restart(3)
    assert watch(shared, 50) == rows
    orders = set()
    for seed in range(6):
        shared.restart(seed)
        orders.add(tuple(watch(shared, 1)[0]))
    assert len(orders) > 1


def test_one_goes_on_at_any_step_where_one_would_have_got_to(share):
    shared = share(count=3, steps=7)
    shared.restart(1)
    rows = watch(shared, 40, agents=3)
    for clock in (0, 1, 6, 7, 20, 39):
        shared.restart(1, clock)
        assert watch(shared, 1, agents=3)[0] == rows[clock]


def test_as_many_scenes_as_there_are_stay(share):
    shared = share(count=5)
    shared.restart(0)
    assert len({tuple(row) for row in watch(shared, 30, agents=5)}) == 1
    assert shared.replaced == 0


def test_steps_do_not_wait_for_a_scene_that_is_there_in_time(share):
    shared = share(seconds=0.2)
    shared.restart(0)
    for _ in range(4):
        shared.tick()
    time.sleep(1.5)
    shared.tick()
    assert (shared.replaced, shared.waits, shared.waited_s) == (1, 0, 0.0)


def test_a_wait_is_counted_and_told_and_changes_nothing_else(share, capfd):
    prompt, slow = share(), share(seconds=0.3)
    prompt.restart(0)
    slow.restart(0)
    assert watch(slow, 16) == watch(prompt, 16)
    assert slow.waits == slow.replaced == 3
    assert slow.waited_s > 0.5
    told = capfd.readouterr().err.splitlines()
    assert any(line.startswith("2 of 2 scenes came late, steps waited ") for line in told)
    assert all(line.endswith("raise sharing.steps=10") for line in told)


def test_after_ctrl_c_in_a_wait_the_same_scenes_come(share):
    prompt, slow = share(), share(seconds=0.8)
    prompt.restart(0)
    slow.restart(0)
    watch(slow, 4)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        slow.tick()
    timer.join()
    slow.tick()
    assert watch(slow, 8) == watch(prompt, 14)[6:]


def test_a_scene_that_cannot_be_loaded_is_told_when_its_step_comes(share):
    shared = share(count=1, steps=3)
    shared.restart(0)
    following = shared._name(1)
    broken = share(count=1, steps=3, broken=following)
    broken.restart(0)
    broken.tick()
    broken.tick()
    for _ in range(2):
        with pytest.raises(UserError, match=f"^{following} cannot be read$"):
            broken.tick()


def vector(files=None, agents=5, steps=12, scenes=2, task="pointnav", every=16):
    config = default_config(task)
    config.max_steps = steps
    sharing = Sharing(scenes, every)
    return NavVectorEnv(
        agents, task, config, "val", agent=SMALL, files=files, threads=1, sharing=sharing
    )


def play(env, steps, seed=1):
    """Observations, rewards and which scene each agent is in, step by step."""
    rng = np.random.default_rng(seed)
    seen, _ = env.reset(seed=seed)
    track = []
    for _ in range(steps):
        actions = rng.choice([1, 1, 2, 3], env.num_envs)
        names = [env.worlds.scene(i).name for i in range(env.num_envs)]
        track.append((actions, seen, names))
        seen, rewards, *_ = env.step(actions)
        track[-1] += (rewards,)
    return track


def check_same(first, second):
    for one, other in zip(first, second, strict=True):
        assert one[2] == other[2]
        np.testing.assert_array_equal(one[3], other[3])
        for key, value in one[1].items():
            np.testing.assert_array_equal(value, other[1][key], key)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["pointnav", "flee", "explore"])
def test_agents_in_scans_share_scenes_and_runs_repeat(folder, task):
    env = vector(ScanEpisodes(task, "", str(folder)), task=task)
    track = play(env, 50)
    inside = [Counter(names) for _, _, names, _ in track]
    # Two that are there, and at most one that was replaced while episodes ran on
    assert max(map(len, inside)) <= 3
    assert max(max(each.values()) for each in inside) <= 3
    assert len({name for each in inside for name in each}) == 4
    assert len(env.worlds.bank.scenes) == len(inside[-1])
    check_same(play(env, 50), track)
    env.close()


@pytest.mark.parametrize("task", ["pointnav", "flee", "explore"])
def test_nothing_slow_is_left_for_the_first_episodes(folder, task, monkeypatch):
    config = default_config(task)
    worlds = ScanWorlds(1, SMALL)
    made, rng = make_task(task, config, worlds), np.random.default_rng(0)
    scan = Loader(task, config, SMALL, files=True)(str(folder / "room0.glb"))
    worlds.load = lambda key: scan

    def slow(*_):
        raise AssertionError("distances are measured while agents wait")

    for module, name in (("nav.scene", "_measure"), ("nav.scan", "KDTree")):
        monkeypatch.setattr(f"{module}.{name}", slow)
    for _ in range(20):
        made.start(0, sample_episode(scan, made, rng))


def test_scenes_that_nobody_has_any_more_are_freed_at_once(folder):
    agent, before = SMALL, gc.isenabled()
    gc.disable()  # it would free them some day
    try:
        for files, name in ((True, str(folder / "room0.glb")), (False, "layout5000_variation00")):
            made = Loader("explore", default_config("explore"), agent, files)(name)
            gone = [weakref.ref(made), *(weakref.ref(each) for each in getattr(made, "floors", ()))]
            del made
            assert [each() for each in gone] == [None] * len(gone)
    finally:
        if before:
            gc.enable()


def test_homes_of_a_file_are_known_to_the_process_that_loads(tmp_path, monkeypatch):
    monkeypatch.setattr(nav_env, "building_names", building_names)
    with known_home(tmp_path, "shared") as path:
        sharing = Sharing(scenes=1, steps=50)
        env = NavVectorEnv(2, "pointnav", None, "train", path, SMALL, sharing=sharing)
        env.reset(seed=1)
        env.close()


@pytest.mark.parametrize("task", ["pointnav", "objectnav", "flee", "explore"])
def test_nor_in_our_homes(task, monkeypatch, walled):
    hall = walled("hall", 6.0, 5.0, HALLS["empty_hall"].solids[-1])
    monkeypatch.setattr(nav_sharing, "load_building", lambda name: hall)
    config, agent = default_config(task), replace(TASKS[task].agent_config(), camera_size=8)
    worlds = AgentWorlds(1, agent)
    made, rng = make_task(task, config, worlds), np.random.default_rng(0)
    scene = Loader(task, config, agent, files=False)("hall")
    worlds.load = lambda name: scene

    def slow(*_):
        raise AssertionError("something is worked out while agents wait")

    monkeypatch.setattr("nav.scene._measure", slow)
    monkeypatch.setattr("nav.viewpoints._shares", slow)
    for _ in range(20):
        made.start(0, made.sample(scene, rng))


@pytest.mark.slow
def test_a_run_goes_on_in_mid_episode_with_its_scenes(folder):
    env = vector(ScanEpisodes("pointnav", "", str(folder)), agents=3)
    order = Numbered(5)
    env.begin(order, [1, 1, 1], [[]] * 3)
    numbers, done = [1, 1, 1], [[], [], []]
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = rng.choice([0, 1, 1, 1, 1, 2], 3)
        seen, _, terminated, truncated, _ = env.step(actions)
        for i in range(3):
            done[i].append(int(actions[i]))
            if terminated[i] or truncated[i]:
                numbers[i], done[i] = numbers[i] + 1, []
    assert len({len(own) for own in done}) > 1
    again = vector(ScanEpisodes("pointnav", "", str(folder)), agents=3)
    assert again.takes_up
    again.clock = env.clock
    shown, _ = again.begin(order, numbers, done)
    assert again.clock == env.clock == 40
    for _ in range(20):
        for key, value in seen.items():
            np.testing.assert_array_equal(shown[key], value, key)
        actions = rng.choice([1, 2], 3)
        seen, shown = env.step(actions)[0], again.step(actions)[0]
    for each in (env, again):
        each.close()


@pytest.mark.slow
@pytest.mark.parametrize("task", ["pointnav", "objectnav"])
def test_agents_in_our_homes_share_scenes_too(monkeypatch, task):
    monkeypatch.setattr(
        nav_env, "building_names", lambda homes, split: building_names(homes, split)[:4]
    )
    env = vector(task=task)
    track = play(env, 40)
    assert len({name for _, _, names, _ in track for name in names}) >= 3
    check_same(play(env, 40), track)
    # What came from the other process is what is made here
    scene = env.worlds.scene(0)
    here = Scene(load_building(scene.name), SMALL.radius)
    np.testing.assert_array_equal(scene.grid.clearance, here.grid.clearance)
    np.testing.assert_array_equal(scene.geoms.positions, here.geoms.positions)
    assert scene.landmarks == here.landmarks
    assert scene.objects == here.objects
    env.close()


@pytest.mark.slow
def test_a_broken_file_ends_a_step_in_one_line(tmp_path):
    write(tmp_path / "a.glb", hall())
    (tmp_path / "b.glb").write_bytes(b"nothing")
    env = vector(ScanEpisodes("explore", "", str(tmp_path)), scenes=1, task="explore", every=4)
    with pytest.raises(UserError, match=r"b\.glb: expected binary glTF \(\.glb\)") as told:
        play(env, 10)
    assert "\n" not in str(told.value)
    env.close()


@pytest.mark.parametrize(
    ("agents", "scenes", "every", "told"),
    [
        (5, 6, 100, "sharing.scenes must be from 1 to 4 for 5 agents and 4 scenes, found 6"),
        (65, 2, 100, "sharing.scenes must be from 3 to 4 for 65 agents and 4 scenes, found 2"),
        (200, 4, 100, "sharing.scenes: 200 agents need 7 scenes or more, as at most 32 share one"),
        (5, 4, 3, "sharing.steps must be at least sharing.scenes=4, found 3"),
        (5, 4, 0, "sharing.steps must be from 1 to"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(folder, agents, scenes, every, told):
    with pytest.raises(UserError, match=f"^{told}"):
        vector(ScanEpisodes("pointnav", "", str(folder)), agents, scenes=scenes, every=every)
