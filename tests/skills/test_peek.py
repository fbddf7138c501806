"""A look into the worlds of a training."""

import pickle
import time
from types import SimpleNamespace

import numpy as np
import pytest

from nav.agent import FORWARD
from rearrange.errors import UserError
from skills.peek import FILE, INTERVAL, STEPS_PER_READ, Peek, WatchedEnvironments, Window, page_of
from skills.settings import make_environments
from skills.sight import FLOOR, ROOM, Sight, eye_of
from skills.train import load_settings


def test_what_is_half_written_is_not_taken(tmp_path):
    path = tmp_path / FILE
    Peek.create(path, 4)
    worker, page = Peek(path), Peek(path)
    assert (page.count, page.take()) == (4, None)
    worker.put(Sight(FLOOR, "pointnav", "home", "1", 0, 10, "", (0.0, 0.0, 0.0)))
    with path.open("r+b") as file:  # as if another process wrote
        file.seek(70)
        byte = file.read(1)[0]
        file.seek(70)
        file.write(bytes([byte ^ 1]))
    assert page.take() is None
    worker.put(Sight(FLOOR, "pointnav", "home", "1", 1, 10, "", (0.0, 0.0, 0.0)))
    taken = page.take()
    assert taken is not None
    assert taken.step == 1
    assert page.take() is None
    assert page.is_written()


@pytest.mark.parametrize(("task", "kind"), [("pick", ROOM), ("pointnav", FLOOR)])
def test_only_the_environment_that_is_asked_for_shows_its_world(tmp_path, task, kind):
    path = tmp_path / FILE
    Peek.create(path, 2)
    page = Peek(path)
    plain = make_environments(load_settings(task))
    watched = pickle.loads(pickle.dumps(WatchedEnvironments(plain, str(path))))
    env, alone = watched(1, 5), plain(1, 5)

    def play(seed):
        outcomes = []
        for each in (env, alone):
            each.action_space.seed(seed)
            observation, _ = each.reset(seed=seed)
            for _ in range(STEPS_PER_READ):
                action = FORWARD if kind == FLOOR else each.action_space.sample()
                observation, reward, *_ = each.step(action)
            outcomes.append((observation, reward))
        return outcomes

    def check_same(outcomes):
        (first, reward), (second, other) = outcomes
        assert reward == other
        for name, value in first.items():
            np.testing.assert_array_equal(value, second[name])

    check_same(play(0))
    page.ask(0, 60.0)
    check_same(play(1))
    assert page.take() is None
    page.ask(1, 60.0)
    time.sleep(INTERVAL)
    check_same(play(2))  # being looked at changes nothing
    sight = page.take()
    assert sight is not None
    assert (sight.kind, sight.task) == (kind, task)
    assert sight.step >= 1
    assert sight.action
    assert sight.rewards
    size = env.observation_space["depth" if kind == FLOOR else "head_depth"].shape[0]
    assert sight.picture is not None
    assert sight.picture.shape == (size, size, 3)
    page.ask(1, -1.0)
    play(3)
    assert page.take() is None


def test_the_file_is_read_in_one_step_of_eight(tmp_path, monkeypatch):
    path = tmp_path / FILE
    Peek.create(path, 1)
    reads = []
    monkeypatch.setattr(Peek, "asked", lambda self: reads.append(1) or -1)
    window = Window(Peek(path), 0, 1, SimpleNamespace())  # type: ignore[arg-type]
    for _ in range(2 * STEPS_PER_READ):
        window.show()
    assert len(reads) == 2


def test_without_live_environments_are_as_they_are(tmp_path):
    with page_of(SimpleNamespace(live=False), tmp_path) as watched:
        assert watched("environments") == "environments"
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("task", ["pick", "pointnav"])
def test_of_many_worlds_in_one_process_the_one_that_is_asked_for_is_shown(tmp_path, task):
    path = tmp_path / FILE
    Peek.create(path, STEPS_PER_READ)
    page = Peek(path)
    watched = WatchedEnvironments(make_environments(load_settings(task)), str(path))
    together = watched.make_vector(STEPS_PER_READ, 0, 1)
    together.reset(seed=5)
    page.ask(1, 60.0)
    together.action_space.seed(1)  # in which nobody stops, which would begin an episode anew
    together.step(together.action_space.sample())
    sight, eye = page.take(), eye_of(together)
    assert sight is not None
    assert eye is not None
    first, second = (eye.look(None, i) for i in range(2))
    assert (sight.base, sight.episode) == (second.base, second.episode)
    assert sight.base != first.base
    assert sight.action
    assert sight.rewards
    page.ask(STEPS_PER_READ, 60.0)  # there is no such world
    time.sleep(INTERVAL)
    together.step(together.action_space.sample())
    assert page.take() is None


@pytest.mark.parametrize(("task", "sim"), [("pick", "habitat"), ("pointnav", "scan")])
def test_worlds_that_cannot_be_watched_are_refused(tmp_path, task, sim):
    settings = load_settings(task, ["live=true", f"sim={sim}"])
    with (
        pytest.raises(UserError, match="live=true shows"),
        page_of(settings, tmp_path),
    ):
        pass


def test_live_is_no_part_of_the_recipe():
    from skills.recipe import recipe_of

    assert recipe_of([load_settings("pick", ["live=true"])]) == recipe_of([load_settings("pick")])
