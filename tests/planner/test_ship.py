"""Policies and figures of the median of some households' runs, put where shipped ones lie."""

import hashlib
import json

import pytest

from planner import ship
from rearrange.errors import UserError
from skills.registry import skill_names


def finished_run(folder, success):
    """A folder as planner.household leaves one; its policies hold its name."""
    for name in skill_names():
        (folder / name).mkdir(parents=True)
        (folder / name / "policy.safetensors").write_bytes(folder.name.encode())
        (folder / name / "policy.json").write_text("{}")
        result = folder / "results" / f"{name}.json"
        result.parent.mkdir(exist_ok=True)
        result.write_text(json.dumps({"success_at_end": {"mean": success}, "of": folder.name}))
    (folder / "results" / "tidy_house.json").write_text("{}")
    return folder


def test_the_median_seed_is_shipped(tmp_path, capsys):
    runs = [finished_run(tmp_path / f"seed_{k}", s) for k, s in enumerate((0.9, 0.7, 0.8))]
    assert ship.main([*map(str, runs), "--to", str(tmp_path / "home")]) == 0
    for name in skill_names():
        copied = tmp_path / "home" / "data" / "checkpoints" / f"{name}.safetensors"
        assert copied.read_bytes() == b"seed_2"
        assert copied.with_suffix(".json").read_text() == "{}"
        told = json.loads((tmp_path / "home" / "results" / f"{name}.json").read_text())
        assert told["of"] == "seed_2"
    assert (tmp_path / "home" / "results" / "tidy_house.json").is_file()
    assert "seed_1: 70.0 % over the skills" in capsys.readouterr().err


def test_an_initiation_set_goes_with_its_policy(tmp_path):
    run, home = finished_run(tmp_path / "seed_1", 0.9), tmp_path / "home"
    (run / "pick" / "policy.initiation").write_bytes(b"new")
    checkpoints = home / "data" / "checkpoints"
    checkpoints.mkdir(parents=True)
    for name in ("pick", "place"):
        (checkpoints / f"{name}.initiation").write_bytes(b"old")
    assert ship.main([str(run), "--to", str(home)]) == 0
    assert (checkpoints / "pick.initiation").read_bytes() == b"new"
    assert not (checkpoints / "place.initiation").exists()  # the former policy's


def test_results_of_other_policies_are_left_out(tmp_path, capsys):
    run, home = finished_run(tmp_path / "seed_1", 0.9), tmp_path / "home"
    for name, content in (("set_table", b"seed_1"), ("tidy_house", b"another")):
        judged = {"made": {"checkpoints": {"file": hashlib.sha256(content).hexdigest()}}}
        (run / "results" / f"{name}.json").write_text(json.dumps(judged))
    assert ship.main([str(run), "--to", str(home)]) == 0
    assert (home / "results" / "set_table.json").is_file()
    assert not (home / "results" / "tidy_house.json").exists()
    assert "tidy_house.json, of policies that are not shipped" in capsys.readouterr().err


def test_some_skills_are_shipped_and_the_others_left_as_they_are(tmp_path):
    run, home = finished_run(tmp_path / "seed_1", 0.9), tmp_path / "home"
    (run / "pick" / "policy.safetensors").unlink()
    assert ship.main([str(run), "--to", str(home), "--skills", "open_cab,place"]) == 0
    found = sorted(path.name for path in (home / "data" / "checkpoints").glob("*.safetensors"))
    assert found == ["open_cab.safetensors", "place.safetensors"]
    with pytest.raises(UserError, match="--skills: fly is none of navigate"):
        ship.main([str(run), "--to", str(home), "--skills", "open_cab,fly"])


def test_hand_offs_of_a_skill_take_the_place_of_former_ones(tmp_path):
    run, home = finished_run(tmp_path / "seed_1", 0.9), tmp_path / "home"
    for folder, name in (
        (run, "learned/pick/set_table"),
        (run, "learned/place/set_table"),
        (home / "data", "learned/pick/tidy_house"),
        (home / "data", "oracles/pick/tidy_house"),
        (home / "data", "oracles/place/tidy_house"),
    ):
        path = folder / "hand_offs" / f"{name}_train.json.gz"
        path.parent.mkdir(parents=True)
        path.write_text(name)
    assert ship.main([str(run), "--to", str(home), "--skills", "pick"]) == 0
    found = {path.read_text() for path in (home / "data" / "hand_offs").rglob("*.gz")}
    # Those that the run has not recorded stay: a recipe needs both
    assert found == {
        "learned/pick/set_table",
        "oracles/pick/tidy_house",
        "oracles/place/tidy_house",
    }


def test_of_two_runs_the_worse_is_shipped(tmp_path):
    runs = [finished_run(tmp_path / f"seed_{k}", s) for k, s in enumerate((0.9, 0.7))]
    assert ship.median_of(runs, skill_names()) == runs[1]


def test_a_run_that_is_not_finished_is_refused(tmp_path):
    run = finished_run(tmp_path / "seed_1", 0.9)
    (run / "pick" / "policy.safetensors").unlink()
    with pytest.raises(UserError, match=r"seed_1 is not finished: it has no policy or no .* pick"):
        ship.main([str(run), "--to", str(tmp_path / "home")])
    assert not (tmp_path / "home" / "data").exists()


def test_a_broken_result_is_told(tmp_path):
    run = finished_run(tmp_path / "seed_1", 0.9)
    (run / "results" / "place.json").write_text("{")
    with pytest.raises(UserError, match=r"place\.json is no result of an evaluation"):
        ship.success_of(run, ["place"])


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("results/set_table.json", "{", r"set_table\.json is no result of an evaluation"),
        ("results/set_table.json", "[]", r"set_table\.json is no result of an evaluation"),
        ("place/policy.json", None, r"seed_1 is not finished: there is no .*place/policy\.json"),
    ],
)
def test_nothing_is_shipped_of_a_run_that_is_not_whole(tmp_path, file, content, told):
    run = finished_run(tmp_path / "seed_1", 0.9)
    (run / file).unlink(missing_ok=True)
    if content is not None:
        (run / file).write_text(content)
    with pytest.raises(UserError, match=told):
        ship.main([str(run), "--to", str(tmp_path / "home")])
    assert not (tmp_path / "home").exists()
