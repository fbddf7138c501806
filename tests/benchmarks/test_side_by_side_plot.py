"""Curves of `ver` beside other libraries."""

import json

import pytest

from benchmarks.side_by_side_plot import main, read_environments
from skills.command import USER_ERRORS


def result(name):
    run = {"curve": [[5.0, 100, 1.0], [6.0, 200, 3.0]]}
    found = {"threshold": 3.0, "systems": {"ver": {"runs": [run, run]}, "sb3": {"runs": [run]}}}
    return {"environments": {name: found}}


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{name}.json" for name in "ab"]
    for path in paths:
        path.write_text(json.dumps(result(f"{path.stem}-v1")))
    return paths


def test_environments_of_several_results_are_drawn_together(files):
    assert list(read_environments(files)) == ["a-v1", "b-v1"]


def test_a_picture_is_drawn(files, tmp_path):
    pytest.importorskip("matplotlib")
    output = tmp_path / "new" / "curves.png"
    assert main([*map(str, files), "--output", str(output)]) == 0
    assert output.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"environments": {"CartPole-v1": {}}}'])
def test_another_file_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(USER_ERRORS, match=r"other.json is no result of benchmarks.side_by_side"):
        main([str(path), "--output", str(tmp_path / "curves.png")])


def test_no_file_is_refused_in_one_line(tmp_path):
    with pytest.raises(USER_ERRORS, match=r"nowhere\.json is no result"):
        main([str(tmp_path / "nowhere.json"), "--output", str(tmp_path / "curves.png")])
