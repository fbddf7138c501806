"""Which episodes are filmed, and a skill's own task as a plan of one step."""

import imageio.v3
import numpy as np
import pytest

from planner import film, panels, video
from planner.film import Take
from planner.interactions import bind
from planner.problem import build_problem
from planner.record import Moment
from planner.search import find_plan
from rearrange.episodes import EpisodeSet, default_path
from rearrange.errors import UserError
from rearrange.scenes.apartment_kind import APARTMENT
from skills.command import USER_ERRORS
from tests.helpers.planner_fakes import FakeWorld, make_episode

WON, LOST = Take(True, "10 steps"), Take(False, "20 steps, pick: time-out")


class FakePlayer:
    """Episodes with known ends; a film is a file that names its episode."""

    def __init__(self, takes, filmed=None):
        self.takes, self.filmed, self.played = takes, filmed or takes, []

    def play(self, index, path, tell):
        tell("step 0")
        self.played.append((index, None if path is None else path.name))
        if path is None:
            return self.takes[index]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(index))
        return self.filmed[index]


def test_the_first_success_and_the_first_failure_are_filmed(tmp_path, capsys):
    player = FakePlayer([WON, WON, LOST, LOST])
    made = film.film("pick", player, tmp_path / "new", 4)
    assert [path.name for path in made] == ["pick_success.mp4", "pick_failure.mp4"]
    assert [path.read_text() for path in made] == ["0", "2"]
    assert player.played == [
        (0, None), (1, None), (2, None), (0, "pick_success.mp4"), (2, "pick_failure.mp4"),
    ]  # fmt: skip
    assert "pick: episode 2: failure, 20 steps, pick: time-out" in capsys.readouterr().out


def test_what_there_is_none_of_is_told_and_old_films_go(tmp_path, capsys):
    old = tmp_path / "place_success.mp4"
    old.touch()
    made = film.film("place", FakePlayer([LOST, LOST]), tmp_path, 2)
    assert [path.name for path in made] == ["place_failure.mp4"]
    assert not old.exists()
    assert "place: no success in 2 episodes" in capsys.readouterr().out


def test_the_gif_is_made_only_where_it_is_asked_for(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(film, "GIF", tmp_path / "x.gif")
    monkeypatch.setattr(film, "open_player", lambda *_: FakePlayer([WON, LOST]))
    monkeypatch.setattr(
        "rearrange.render.video.write_gif", lambda _, path: made.append(path.write_text("gif"))
    )
    arguments = ["tidy_house", "--episodes", "2", "--output", str(tmp_path)]
    assert film.main(arguments) == 0
    assert not made
    assert film.main([*arguments, "--gif"]) == 0
    assert len(made) == 1


def test_a_film_must_show_what_was_played(tmp_path):
    player = FakePlayer([WON, LOST], [WON, WON])
    with pytest.raises(UserError, match="episode 1 ended otherwise when it was filmed"):
        film.film("pick", player, tmp_path, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["pick_success.mp4"]


def test_films_too_large_are_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(film, "LARGEST", 0)
    film.film("pick", FakePlayer([WON]), tmp_path, 1)
    assert "pick_success.mp4: more than 0 MB" in capsys.readouterr().err


def test_what_lacks_a_checkpoint_is_left_out(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(film, "CHECKPOINTS", tmp_path)
    for name in ("pick", "place", "open_cab"):
        (tmp_path / f"{name}.safetensors").touch()
    assert film.main(["set_table", "close_fridge", "--output", str(tmp_path / "videos")]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("set_table: left out: no checkpoint for open_fridge in ")
    assert lines[1].startswith("close_fridge: left out: no checkpoint for close_fridge in ")
    assert lines[1].endswith("scripts/train_skill.sh close_fridge")
    assert not (tmp_path / "videos").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cooking"], "unknown film 'cooking': choose one of tidy_house_no_nav, tidy_house"),
        (["pick", "--skills", "magic"], "unknown skills 'magic'"),
        (["pick", "--episodes", "0"], "--episodes must be at least 1"),
        (["pick", "--checkpoint", "nope.safetensors"], "nope.safetensors: there is no such policy"),
        (["pick", "--skills", "mixed,pick=nope.safetensors"], "nope.safetensors: there is no such"),
        (["pick", "place", "--checkpoint", "a.safetensors"], "name that alone"),
        (["tidy_house", "--checkpoint", "a.safetensors"], "in a chore say --skills mixed,pick=a"),
        (["pick", "--gif"], "--gif is made of tidy_house: name that, too"),
        (["pointnav", "--robot", "mast"], "--robot acts in no film that is named: leave it out"),
        (["pointnav", "--checkpoint", "a.pt", "--skills", "oracle"], "leave --skills out"),
    ],
)
def test_mistakes_are_told(arguments, told):
    with pytest.raises(UserError, match=told):
        film.main(arguments)


@pytest.mark.parametrize("name", film.CHORES)
def test_chores_name_the_skills_of_their_plans(name):
    chore = film.CHORES[name]
    episode = EpisodeSet.load(default_path(chore.task, "val")).episodes[0]
    task = build_problem(episode)
    used = {bind(step, task.arguments, APARTMENT).skill for step in find_plan(task.problem).steps}
    assert set(chore.skills) == used - (set() if chore.navigate else {"navigate"})


def test_a_skills_own_task_is_a_plan_of_one_step():
    world = FakeWorld(make_episode(1))
    call = film.only_call("pick", world)
    moment = Moment((call,), 0, "pick", call.argument, 1)
    assert video.caption(world, moment) == "1/1  picking up the cracker box"
    world = FakeWorld(make_episode(1, target_joint="fridge_door"))
    call = film.only_call("open_fridge", world)
    assert video.caption(world, Moment((call,), 0, "open_fridge", call.argument, 1)) == (
        "1/1  opening the fridge"
    )
    assert panels.line_title(world.episode, (call,), 200) == "fridge"
    world = FakeWorld(make_episode(1, target_joint="drawer_left_top"))
    call = film.only_call("open_cab", world)
    assert panels.line_title(world.episode, (call,), 200) == "top left drawer"
    world = FakeWorld(make_episode(1, held_slot=3))
    assert film.only_call("place", world).argument.kind == "goal"


def test_metrics_become_the_record_of_a_plan():
    failures = {"failure/wrong_object": 0.0, "failure/force_limit": 1.0, "failure/timeout": 0.0}
    metrics = {"success": 0.0, "success_once": 1.0, "length": 12.0}
    execution = film.execution_of("pick", metrics | failures)
    assert (execution.success_at_end, execution.success_once) == (False, True)
    assert execution.failure == "pick: force limit"
    assert execution.steps == 12
    won = film.execution_of("pick", {**metrics, "success": 1.0, **failures})
    assert (won.success_at_end, won.failure) == (True, None)


@pytest.mark.slow
def test_a_training_task_is_filmed_as_it_is_played(tmp_path):
    player = film.SkillPlayer("pick", "mixed", 0, 1, ("classic", ""))
    told: list[str] = []
    path = tmp_path / "pick.mp4"
    take = player.play(0, None, told.append)
    assert player.play(0, path, told.append) == take
    assert told[0] == "picking up, step 30"
    frames = imageio.v3.imread(path)
    steps = int(take.told.split()[0])
    assert frames.shape == (steps + video.LAST_FRAMES, 540, 960, 3)  # every step, then the result
    assert np.std(frames[0, :, :680]) > 20  # a picture, not a plain colour


@pytest.mark.parametrize(
    ("words", "source"),
    [("oracle", "oracle"), ("learned,pick=random", "random"), ("mixed", "pick.safetensors")],
)
def test_a_skills_own_film_shows_who_was_asked_for(words, source):
    from skills.players import player_of

    found, player = player_of("pick", words, "val", "classic")
    assert found.endswith(source)
    assert (
        type(player).__name__ == {"p": "Policy", "o": "Oracle", "r": "Random"}[source[0]] + "Player"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("learned,pick=nope.safetensors", "nope"),
        ("learned,pick=place.safetensors", "policy for 'place', not for 'pick'"),
        ("spa", "plays whole chores"),
        ("monolithic", "plays whole chores"),
    ],
)
def test_a_film_of_a_policy_that_is_none_of_the_skill_is_refused(words, told):
    from skills.settings import CHECKPOINTS

    words = words.replace("place.saf", f"{CHECKPOINTS}/place.saf")
    with pytest.raises(USER_ERRORS, match=told):
        film.SkillPlayer("pick", words, 0, 1, ("classic", ""))


def test_a_policy_of_ones_own_is_filmed_and_one_of_another_skill_is_an_error(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(film, "SkillPlayer", lambda *words: asked.append(words))
    monkeypatch.setattr(film, "film", lambda *_: [])
    policy = tmp_path / "mine.safetensors"
    policy.touch()
    assert film.main(["pick", "--checkpoint", str(policy), "--output", str(tmp_path)]) == 0
    assert asked[0][:2] == ("pick", f"mixed,pick={policy}")
    monkeypatch.undo()
    from skills.settings import CHECKPOINTS

    with pytest.raises(USER_ERRORS, match="policy for 'place', not for 'pick'"):
        film.main(["pick", "--checkpoint", str(CHECKPOINTS / "place.safetensors")])
