import json
import shutil
from pathlib import Path

import pytest

from planner.table import in_ledger, main, page
from rearrange.errors import UserError
from skills.provenance import ROOT


def rate(mean: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - 0.1, "high": mean + 0.05}


def written(folder, task: str, row: str, rates: list[float], **more) -> str:
    """A file as planner.eval writes it, with what the page needs."""
    summary = {
        "task": task,
        "row": row,
        "split": "val",
        "homes": "generated",
        "episodes": 100,
        "skills": {"navigate": "oracle", "pick": "/somewhere/pick.safetensors", "place": "oracle"},
        "interactions": [
            {"name": name, "success_at_end": rate(value)}
            for name, value in zip(("pick_0", "place_0"), rates, strict=True)
        ],
        "full_task": {"success_at_end": rate(rates[-1])},
        "failures": {"pick: nothing held": 7},
        "wrong_object": {"wrong": 1, "picks": 300},
        "planning_seconds": {"median": 0.0104, "worst": 0.2},
        "made": {"command": f"python -m planner.eval {task} --json out.json --seed 1"},
    } | more
    path = folder / f"{task}_{row}.json"
    path.write_text(json.dumps(summary))
    return str(path)


def test_evaluations_of_a_scenario_stand_in_one_table(tmp_path, capsys):
    rows = [[0, 5003, 1], [1, 5003, 2], [2, 5004, 0]]
    places = {"columns": ["index", "layout", "variation"], "rows": rows}
    files = [
        written(tmp_path, "set_table", "TP-SRL", [0.5, 0.25]),
        written(tmp_path, "tidy_house", "TP-SPA", [0.95, 0.9], homes="classic", per_episode=places),
        written(tmp_path, "tidy_house", "TP-SRL", [0.8, 0.7], split="test"),
    ]
    assert main(files) == 0
    page = capsys.readouterr().out
    tidy, table = page.index("## Tidy House"), page.index("## Set Table")
    assert tidy < table  # in the order of the scenarios
    assert "| | n | plans | apartments | `pick_0` | `place_0` | full task |" in page
    assert (
        "| TP-SPA (classic homes) | 100 | 2 | 3 | 95 | 90 | **90.0 %** (80.0 to 95.0) |"
        in page[tidy:table]
    )
    assert (
        "| TP-SRL (test split) | 100 |  |  | 80 | 70 | **70.0 %** (60.0 to 75.0) |"
        in page[tidy:table]
    )
    assert "(navigate, place: oracle; pick: pick.safetensors)" in page
    assert "7 pick: nothing held" in page
    assert "Wrong objects: 1 of 300 picks. Planning: median 10 ms, worst 200 ms." in page
    assert (
        "`python -m planner.eval set_table --seed 1`" in page
    )  # where it was written is no matter


def test_interactions_of_all_rows_have_columns(tmp_path, capsys):
    more = [{"name": name, "success_at_end": rate(0.5)} for name in ("pick_0", "close_cab_0")]
    files = [
        written(tmp_path, "set_table", "TP-SRL", [0.5, 0.25]),
        written(tmp_path, "set_table", "TP-SRL (closing)", [0.5, 0.25], interactions=more),
    ]
    assert main(files) == 0
    page = capsys.readouterr().out
    assert "| `pick_0` | `place_0` | `close_cab_0` | full task |" in page
    assert "| TP-SRL | 100 |  |  | 50 | 25 |  | **25.0 %**" in page
    assert "| TP-SRL (closing) | 100 |  |  | 50 |  | 50 | **25.0 %**" in page


def test_rows_say_whether_plans_were_changed(tmp_path, capsys):
    replanning = {
        "limit": 5,
        "per_object": 2,
        "new_plans": 7,
        "episodes": 4,
    }
    files = [
        written(tmp_path, "tidy_house", "TP-SRL", [0.8, 0.7], replanning=None),
        written(tmp_path, "tidy_house", "TP-SRL (replanning)", [0.9, 0.8], replanning=replanning),
        written(
            tmp_path,
            "tidy_house",
            "TP-SRL (drives anew)",
            [0.9, 0.8],
            redrives={"limit": 2, "drives": 7, "episodes": 5},
        ),
    ]
    assert main(files) == 0
    page = capsys.readouterr().out
    assert "| TP-SRL (replanning) | 100 |" in page
    line = "Replanning, at most 5 new plans after faults: plans changed 7 times in 4 episodes."
    assert page.count("Replanning, at") == page.count(line) == 1
    line = "Driving anew, at most 2 times in a row: 7 in 5 episodes."
    assert page.count("Driving anew, at") == page.count(line) == 1


@pytest.mark.parametrize(
    ("row", "sources", "name"),
    [
        ("TP-SRL (mixed)", ("navigate.safetensors", "pick.safetensors"), "TP-SRL"),
        ("TP-SRL (mixed)", ("oracle", "pick.safetensors"), "TP-SRL (oracle navigate)"),
        ("TP-SRL (mixed, replanning)", ("a.safetensors", "b.safetensors"), "TP-SRL (replanning)"),
        ("TP-SRL (mixed, NoNav)", ("oracle", "oracle"), "TP-SRL (oracle navigate, pick, NoNav)"),
        (
            "TP-SRL (navigate: policy, pick: mine, replanning)",
            ("a", "b"),
            "TP-SRL (pick: mine, replanning)",
        ),
        ("oracle", ("oracle", "oracle"), "oracle"),
    ],
)
def test_rows_say_whom_an_oracle_stood_in_for(row, sources, name, tmp_path, capsys):
    skills = dict(zip(("navigate", "pick"), sources, strict=True))
    assert main([written(tmp_path, "tidy_house", row, [0.8, 0.7], skills=skills)]) == 0
    assert f"| {name} | 100 |" in capsys.readouterr().out


PLANS = '{"task": "tidy_house", "split": "val", "episodes": 2, "records": []}'  # of --plan-only


@pytest.mark.parametrize("text", ["", "[]", '{"task": "pick"}', "\xff", PLANS])
def test_other_files_are_refused_in_one_line(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"other\.json") as error:
        main([str(path)])
    assert "\n" not in str(error.value)


def test_other_tasks_are_refused_in_one_line(tmp_path):
    path = written(tmp_path, "pick", "learned", [0.8, 0.7])
    with pytest.raises(UserError, match=r"pick_learned\.json is no result .* its task is 'pick'"):
        main([path])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match="nowhere"):
        main([str(tmp_path / "nowhere.json")])


def test_evaluations_in_the_ledger_make_the_page(tmp_path):
    path = written(tmp_path, "tidy_house", "TP-SRL", [0.8, 0.7])
    (tmp_path / "pick.json").write_text('{"made": {}, "skill": "pick"}')
    shutil.copy(path, tmp_path / "study_of_something.json")
    assert [each["task"] for each in in_ledger(tmp_path)] == ["tidy_house"]
    assert "**70.0 %**" in page(in_ledger(tmp_path))
    assert f"TP-SRL, `{Path(path).stem}` |" in page(in_ledger(tmp_path))
    assert "Not measured yet" in page([])


def test_what_is_of_former_policies_comes_last(tmp_path):
    for name in ("former_tidy_house", "tidy_house"):
        path = written(tmp_path, "tidy_house", name, [0.8, 0.7])
        Path(path).rename(tmp_path / f"{name}.json")
    rows = [line for line in page(in_ledger(tmp_path)).splitlines() if line.startswith("| ")]
    files = [line.split("`")[1] for line in rows[1:]]
    assert files == ["tidy_house", "former_tidy_house"]


def test_the_page_is_that_of_the_ledger():
    assert (ROOT / "docs" / "results.md").read_text() == page(in_ledger(ROOT / "results")), (
        "python -m planner.table > docs/results.md"
    )
