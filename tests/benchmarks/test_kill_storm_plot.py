"""Curves of the storm."""

import json

import pytest

from benchmarks.kill_storm_plot import main, read_curves
from skills.command import USER_ERRORS

CURVE = [[0.0, 10, 0.1], [60.0, 20, 0.3]]


def test_a_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    result, output = tmp_path / "storm.json", tmp_path / "new" / "storm.png"
    result.write_text(json.dumps({"calm": [{"curve": CURVE}] * 3, "storm": {"curve": CURVE[:1]}}))
    assert read_curves(result) == ([CURVE] * 3, CURVE[:1])
    assert main([str(result), "--output", str(output)]) == 0
    assert output.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"calm": [{}], "storm": 1}'])
def test_another_file_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(USER_ERRORS, match=r"other.json is no result of benchmarks.kill_storm"):
        main([str(path), "--output", str(tmp_path / "curves.png")])


def test_no_other_kind_of_picture_is_written(tmp_path):
    with pytest.raises(USER_ERRORS, match=r"must end in \.png"):
        main([str(tmp_path / "none.json"), "--output", str(tmp_path / "curves.jpg")])
