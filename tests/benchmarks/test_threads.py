"""One thread beside several: what is told, and what is refused."""

import json

import pytest

from benchmarks.threads import main
from skills.command import USER_ERRORS


def test_several_are_measured_against_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.threads.BLOCK", 2)
    path = tmp_path / "told.json"
    words = ["--tasks", "pointnav", "--worlds", "3", "--blocks", "2", "--threads", "1,2"]
    assert main([*words, "--json", str(path)]) == 0
    told = json.loads(path.read_text())
    assert told["worlds"] == 3
    one, two = told["tasks"]["pointnav"].values()
    assert one["times_of_the_first"] == one["images_times_of_the_first"] == 1.0
    assert two["steps_per_second"] > 0.0 < two["images_per_second"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--tasks", "dance"], "--tasks: unknown 'dance'"),
        (["--threads", "0"], "--threads: whole numbers of at least 1"),
        (["--threads", "two"], "--threads: whole numbers of at least 1"),
        (["--worlds", "0"], "--worlds must be at least 1, found 0"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        main(words)
