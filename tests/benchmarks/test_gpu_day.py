"""A day's runner with steps that take no time; and the steps themselves, in the small."""

import json
import os
import sys
import time

import pytest

from benchmarks import gpu_day
from benchmarks.gpu_day import main
from benchmarks.gpu_steps import STEPS, Step
from skills.command import USER_ERRORS

# As skills.provenance tells a command, which takes a second to import
WRITES = """
import json, pathlib, shlex, sys
from ver.public import without_private_folders
words = sys.argv[1:]
path = words[words.index("--json") + 1]
commit, module = {commit!r}, pathlib.Path(sys.argv[0]).stem
command = f"python -m {{module}} {{shlex.join(without_private_folders(words))}}"
json.dump({{"made": {{"commit": commit, "command": command}}, "words": words}}, open(path, "w"))
"""
COMMIT = "0123456789"
PROGRAM = WRITES.format(commit=COMMIT)


@pytest.fixture
def steps(tmp_path, monkeypatch):
    """Adds a step with a program; both days know it."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(gpu_day, "commit_of", lambda root: (COMMIT, False))
    made: list[Step] = []
    monkeypatch.setattr(gpu_day, "STEPS", made)

    def add(name, program=PROGRAM, small=("small",), limit_s=60, **more):
        (tmp_path / f"step_{name}.py").write_text(program)
        words = {"words": lambda scale: ("large",), "small": small}
        made.append(
            Step(name, "a test", f"step_{name}", **words, seconds=1, limit_s=limit_s, **more)
        )

    return add


def day(out, *words):
    return main(["--dry-run", "--out", str(out), *words])


def test_every_step_runs_once_per_commit(tmp_path, steps, capfd):
    steps("one", small=("small", "--settings", "a=1"))
    steps("two")
    assert day(tmp_path / "out") == 0
    record = json.loads((tmp_path / "out" / "one.json").read_text())
    path = str(tmp_path / "out" / "one.json")
    assert record["words"] == ["small", "--json", path, "--settings", "a=1"]
    assert capfd.readouterr().out.split() == ["one", "done", "two", "done"]
    assert day(tmp_path / "out") == 0
    assert capfd.readouterr().out.split("\n")[0].split() == ["one", "left", "out"]
    assert day(tmp_path / "out", "--again", "--only", "two") == 0
    assert capfd.readouterr().out.split() == ["two", "done"]


def test_a_step_of_another_commit_is_done_anew(tmp_path, steps, monkeypatch, capfd):
    steps("one")
    assert day(tmp_path / "out") == 0
    monkeypatch.setattr(gpu_day, "commit_of", lambda root: ("another", False))
    assert day(tmp_path / "out") == 0
    assert capfd.readouterr().out.split() == ["one", "done"] * 2


def test_a_step_in_the_small_is_no_result_of_the_whole(tmp_path, steps):
    steps("one")
    assert day(tmp_path / "out") == 0
    whole = gpu_day.Day(gpu_day.parse(["--out", str(tmp_path / "out")]))
    whole.run(gpu_day.STEPS)
    assert whole.outcomes == {"one": "done"}
    record = json.loads((tmp_path / "out" / "one.json").read_text())
    assert record["words"][0] == "large"


@pytest.mark.parametrize("text", ["[1]", "{}", '{"made": {"commit": 1}}', "{"])
def test_a_broken_result_is_none(text, tmp_path, steps, capfd):
    steps("one")
    (tmp_path / "one.json").write_text(text)
    assert day(tmp_path) == 0
    assert capfd.readouterr().out.split() == ["one", "done"]


def test_a_step_that_fails_is_told_and_the_others_go_on(tmp_path, steps, capfd):
    steps("bad", "import sys\nprint('the gears')\nsys.exit('jammed')")
    steps("good")
    assert day(tmp_path / "out") == 1
    told = capfd.readouterr()
    assert told.out.split() == ["bad", "FAILED", "good", "done"]
    lines = [line.strip() for line in told.err.splitlines()]
    assert lines[lines.index("jammed") - 1] == "the gears"
    assert "bad.log ends:" in told.err
    record = json.loads((tmp_path / "out" / "bad.json").read_text())
    assert (record["outcome"], record["code"], record["said"]) == (
        "FAILED",
        1,
        ["the gears", "jammed"],
    )
    assert day(tmp_path / "out", "--only", "bad") == 1  # what failed counts as not done


def test_a_step_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path, steps, capfd):
    child = "import time; time.sleep(600)"
    steps(
        "slow",
        f"import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        "print(p.pid, flush=True)\np.wait()",
        limit_s=2.0,
    )
    assert day(tmp_path / "out") == 1
    assert capfd.readouterr().out.split("\n")[0].split() == ["slow", "OUT", "OF", "TIME"]
    (pid,) = json.loads((tmp_path / "out" / "slow.json").read_text())["said"]
    deadline = time.monotonic() + 10
    while os.path.exists(f"/proc/{pid}/fd/0") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{pid}/fd/0")


def test_what_runs_beside_is_awaited_before_what_is_timed(tmp_path, steps):
    notes = tmp_path / "notes"
    write = f"import time\nfile = open({str(notes)!r}, 'a')\n"
    slow = "time.sleep(1)\n"
    steps("beside", f"{write}{slow}file.write('beside ')", writes=False, beside=True, timed=False)
    steps("meanwhile", f"{write}file.write('meanwhile ')", writes=False, timed=False)
    steps("timed", f"{write}file.write('timed')", writes=False)
    assert day(tmp_path / "out") == 0
    assert notes.read_text() == "meanwhile beside timed"


def test_what_is_not_there_yet_and_what_would_not_end_in_time_is_left_out(tmp_path, steps, capfd):
    steps("later", needs="no_such_module")
    steps("one")
    assert day(tmp_path / "out", "--budget", "0.001") == 0
    told = capfd.readouterr()
    assert told.out.split() == ["later", "left", "out", "one", "left", "out"]
    assert "there is no no_such_module yet" in told.err
    assert "s of --budget are left: the same command goes on" in told.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--only", "tests,tset"], "--only: there is no step 'tset': choose of environment, "),
        (["--seconds", "0"], "--seconds must be above 0"),
    ],
)
def test_what_cannot_be_is_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        main(words)


def test_the_list_names_every_step(capsys):
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [step.name for step in STEPS]


def test_the_first_step_in_the_small(tmp_path):
    assert day(tmp_path, "--only", "environment") == 0
    record = json.loads((tmp_path / "environment.json").read_text())
    assert record["torch"]["version"]
    assert record["made"]["machine"]["cores"] == record["cores"]


@pytest.mark.slow
def test_a_whole_day_in_the_small(tmp_path, capfd):
    status = day(tmp_path)
    told = capfd.readouterr()
    assert status == 0, told.err
    for step in STEPS:
        record = json.loads((tmp_path / f"{step.name}.json").read_text()) if not step.needs else {}
        assert record.get("outcome", "done") == "done", step.name
