"""How far away Pick may begin: starts, episodes, figures, plot."""

import importlib.util
import json
import math

import numpy as np
import pytest

import rearrange.errors
from rearrange import RearrangeEnv, SimulatorConfig
from rearrange.navigation import distance_field, load_layout, path_length, shortest_path
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.tasks import Pick, sampling
from skills import emergent_navigation
from skills.statistics import wilson
from ver import UserError

USER_ERRORS = (UserError, rearrange.errors.UserError)


@pytest.fixture
def one_variation(monkeypatch):
    """Only the first variation of each layout is sampled, so that few apartments are built."""
    monkeypatch.setattr(sampling, "VARIATION_COUNT", 1)


def way_of(episode) -> float:
    """Length of the shortest path from the base to the place nearest to the object [m]."""
    grid = load_layout(episode.layout, episode.variation)[1]
    floor = distance_field(grid, episode.targets[0].start[:2])
    return path_length(shortest_path(floor, episode.base_pose[:2]))


@pytest.mark.usefixtures("one_variation")
@pytest.mark.parametrize("distance", [0.5, 2.0, 5.0])
def test_starts_are_as_far_as_asked_and_face_anywhere(distance):
    rng, yaws = np.random.default_rng(0), []
    for _ in range(12):
        own = Pick().sample_episode("val", rng)
        episode = emergent_navigation.start_at(
            own, emergent_navigation.floor_of(own), distance, "random", rng
        )
        grid = load_layout(episode.layout, episode.variation)[1]
        assert grid.on_island(*episode.base_pose[:2])
        # The path is found by other means than the field: it may lie a cell's width beside it.
        assert way_of(episode) == pytest.approx(distance, abs=emergent_navigation.TOLERANCE + 0.1)
        yaws.append(episode.base_pose[2])
    assert min(yaws) < -0.5 < 0.5 < max(yaws)


@pytest.mark.usefixtures("one_variation")
def test_the_robot_may_face_the_object():
    rng = np.random.default_rng(0)
    own = Pick().sample_episode("val", rng)
    episode = emergent_navigation.start_at(
        own, emergent_navigation.floor_of(own), 3.0, "object", rng
    )
    (x, y, yaw), goal = episode.base_pose, episode.targets[0].start
    ahead = math.dist((x, y), goal[:2])
    np.testing.assert_allclose(
        (x + ahead * math.cos(yaw), y + ahead * math.sin(yaw)), goal[:2], atol=1e-9
    )


@pytest.mark.usefixtures("one_variation")
def test_an_episode_differs_by_the_base_alone():
    world = RearrangeEnv("pick", None, "val", SimulatorConfig(camera_size=8))
    settings = emergent_navigation.Settings("val", 3, "mean", "random", 10, {})
    near, own_near = emergent_navigation.draw_start(world, settings, 0.5, 1)
    far, own_far = emergent_navigation.draw_start(world, settings, 4.0, 1)
    other, _ = emergent_navigation.draw_start(world, settings, 4.0, 2)
    world.close()
    assert near.objects == far.objects != other.objects
    assert (near.targets, near.arm_joints, own_near) == (far.targets, far.arm_joints, own_far)
    assert near.base_pose != far.base_pose
    own = Pick().sample_episode("val", np.random.default_rng([3, 1]))
    assert own_near == pytest.approx(way_of(own), abs=0.1)


@pytest.mark.usefixtures("one_variation")
def test_a_distance_that_no_apartment_has_is_told(monkeypatch):
    monkeypatch.setattr(emergent_navigation, "EPISODE_ATTEMPTS", 3)
    world = RearrangeEnv("pick", None, "val", SimulatorConfig(camera_size=8))
    settings = emergent_navigation.Settings("val", 0, "mean", "random", 10, {})
    with pytest.raises(UserError, match=r"no free start 90 m .* leave 90 out of --distances"):
        emergent_navigation.draw_start(world, settings, 90.0, 0)
    world.close()


class Driver:
    """A policy that succeeds wherever the way is shorter than it dares to drive."""

    def __init__(self, path, deterministic, split, changes=None, place=None):
        assert place == {"homes": DEFAULT_HOMES}
        self.path, self.changes = path, changes
        self.environment = RearrangeEnv("pick", None, split, SimulatorConfig(camera_size=8))

    def play(self, seed, options):
        won = way_of(options["episode"]) < float(self.path)
        return {"success": float(won), "length": 7.0, "failure/timeout": float(not won)}


@pytest.mark.usefixtures("one_variation")
def test_curves_are_those_of_a_policy_that_dares_so_far(monkeypatch):
    monkeypatch.setattr(emergent_navigation, "PolicyPlayer", Driver)
    settings = emergent_navigation.Settings(
        "val", 0, "mean", "random", 10, {"timid": "1.0", "bold": "3.0"}
    )
    results = list(emergent_navigation.play_all(settings, (0.5, 2.0, 4.0), 2, workers=1))
    summary = emergent_navigation.summarise(results, settings.checkpoints)
    curves = summary["curves"]
    assert list(curves) == ["timid", "bold"]
    means = {k: [point["success_at_end"]["mean"] for point in c] for k, c in curves.items()}
    assert means == {"timid": [1.0, 0.0, 0.0], "bold": [1.0, 1.0, 0.0]}
    assert curves["bold"][2]["failures"] == {"timeout": 2}
    assert curves["bold"][1]["failures"] == {}
    interval = curves["bold"][0]["success_at_end"]
    assert (
        0.0 < interval["low"] < wilson(1.0, 2).low
    )  # two plans say less than two episodes of many
    assert interval["high"] == 1.0
    assert [point["distance"] for point in curves["timid"]] == [0.5, 2.0, 4.0]
    assert {point["episodes"] for point in curves["timid"]} == {2}
    shares = [result.own_way for result in results]
    assert summary["own_ways"]["0.5"] == pytest.approx(np.median(shares))


@pytest.mark.usefixtures("one_variation")
def test_the_command_writes_what_was_played(pick_checkpoint, tmp_path, capsys):
    path = tmp_path / "study.json"
    arguments = ["--checkpoint", f"new={pick_checkpoint}"]
    arguments += ["--checkpoint", "again=untrained", "--distances", "2", "0.5", "--episodes", "1"]
    arguments += ["--max-steps", "5", "--workers", "1", "--json", str(path)]
    assert emergent_navigation.main(arguments) == 0
    record = json.loads(path.read_text())
    assert record["checkpoints"] == {"new": "pick.safetensors", "again": "untrained"}
    for points in record["curves"].values():
        assert [point["distance"] for point in points] == [0.5, 2.0]
        assert all(point["mean_length"] <= 5 for point in points)
        assert all(set(point["success_at_end"]) == {"mean", "low", "high"} for point in points)
    assert (record["actions"], record["heading"], record["max_steps"]) == ("mean", "random", 5)
    assert "metres" in capsys.readouterr().out
    picture = tmp_path / "study.png"
    if importlib.util.find_spec("matplotlib"):
        emergent_navigation.plot(record, picture)
        assert picture.stat().st_size > 5_000
    else:
        with pytest.raises(UserError, match="plots need matplotlib"):
            emergent_navigation.main([*arguments, "--output", str(picture)])


@pytest.mark.slow
def test_figures_do_not_depend_on_the_number_of_workers(pick_checkpoint, tmp_path):
    records = []
    for workers in ("1", "2"):
        path = tmp_path / f"{workers}.json"
        arguments = ["--checkpoint", f"new={pick_checkpoint}"]
        arguments += ["--distances", "1", "3", "--episodes", "2", "--actions", "sampled"]
        arguments += ["--max-steps", "20", "--workers", workers, "--json", str(path)]
        assert emergent_navigation.main(arguments) == 0
        records.append(json.loads(path.read_text()))
    for key in ("curves", "own_ways"):
        assert records[0][key] == records[1][key]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--episodes", "0"], "--episodes must be at least 1"),
        (["--max-steps", "0"], "--max-steps must be at least 1"),
        (["--output", "any.txt"], r"--output must end in \.png, found any"),
        (["--split", "moon"], "unknown split 'moon'"),
        (["--checkpoint", "here"], "must be LABEL=PATH, found 'here'"),
        (["--checkpoint", "a=untrained", "--checkpoint", "a=untrained"],
         "two are labelled 'a'"),
        (["--checkpoint", "a=nowhere.safetensors"], "nowhere.safetensors"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(arguments, told):
    with pytest.raises(USER_ERRORS, match=told) as caught:
        emergent_navigation.main(arguments)
    assert "\n" not in str(caught.value)


def test_a_checkpoint_of_another_skill_is_refused(make_checkpoint):
    arguments = ["--checkpoint", f"a={make_checkpoint('place')}"]
    with pytest.raises(UserError, match="holds a policy for 'place', not for 'pick'"):
        emergent_navigation.main(arguments)
