"""`ver` beside other libraries: the order of runs, when they end, and the sums."""

import json
import sys

import numpy as np
import pytest

from benchmarks import own_session, side_by_side
from benchmarks.any_env import TASKS, Task
from benchmarks.side_by_side import main, summarise, total
from skills.command import USER_ERRORS


def test_the_numbers_of_a_run_end_where_it_reaches_the_threshold():
    rows = [[10, 0, 0]] + [[12 + i, 3, float(i)] for i in range(110)]
    told = summarise(np.array(rows, float), begun=9.0, threshold=52.5)
    assert told["reached"] is True
    # the mean of 3 .. 102 is 52.5: 103 episodes of 3 steps, the last one at 12 + 102
    assert (told["seconds"], told["steps"], told["mean"]) == (105.0, 309.0, 52.5)
    assert told["start_s"] == 1.0
    assert told["steps_per_second"] == 309 / 104
    assert told["curve"][0] == [102.0, 300, 49.5]
    assert told["curve"][-1] == [105.0, 309, 52.5]


def test_a_run_that_does_not_reach_it_is_told_whole():
    rows = [[10, 0, 0]] + [[12 + i, 3, float(i)] for i in range(110)]
    told = summarise(np.array(rows, float), begun=9.0, threshold=99.0)
    assert (told["reached"], told["seconds"], told["steps"]) == (False, 112.0, 330.0)
    assert told["best"] == told["mean"] == 59.5


def test_too_few_episodes_have_no_mean():
    told = summarise(np.array([[10, 0, 0], [12, 3, 500]], float), begun=9.0, threshold=99.0)
    assert (told["reached"], told["mean"], told["best"], told["curve"]) == (False, None, None, [])
    assert (told["seconds"], told["steps_per_second"]) == (3.0, 1.5)


def test_no_median_hides_a_seed_that_failed():
    one = {"reached": True, "seconds": 4.0, "steps": 10.0, "steps_per_second": 5.0, "best": 7.0}
    both = total([one, one | {"seconds": 8.0}])
    assert (both["reached"], both["seconds"], both["worst"]) == (2, 6.0, 7.0)
    failed = total([one, one | {"reached": False, "best": 1.0}])
    assert (failed["reached"], failed["seconds"], failed["steps"]) == (1, None, None)
    assert failed["worst"] == 1.0


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A command whose runs are a stand-in's: it writes a diary that reaches ten at once, and goes on."""
    monkeypatch.setattr(side_by_side, "find_spec", lambda name: None)
    monkeypatch.setattr(own_session, "TRACKER_S", 0.05)
    monkeypatch.setattr(own_session, "OFTEN_S", 0.05)
    monkeypatch.setitem(TASKS, "CartPole-v1", Task("CartPole-v1", 10, 64))
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable} -S\n"
        "import sys, time, os\n"
        "system, name, folder = sys.argv[3:6]\n"
        f"open({str(tmp_path / 'order')!r}, 'a').write(system + sys.argv[7] + ' ')\n"
        "if os.environ.get('FAILS'): sys.exit('no module named that')\n"
        "os.mkdir(folder + '/diary')\n"
        "with open(folder + '/diary/a.txt', 'w') as file:\n"
        "    now = time.time()\n"
        "    print(now, 0, 0.0, file=file)\n"
        "    for i in range(100): print(now + i, 10, 10.0, file=file)\n"
        "time.sleep(60)\n"
    )
    python.chmod(0o755)
    monkeypatch.setattr(side_by_side.sys, "executable", str(python))
    return [
        *("--envs", "CartPole-v1", "--seeds", "2", "--run", str(tmp_path / "runs")),
        *("--sb3", str(python), "--json", str(tmp_path / "told.json")),
    ]


def test_runs_take_turns_end_early_and_are_told_once(words, tmp_path, capsys):
    assert main(words) == 0
    order = (tmp_path / "order").read_text().split()
    first = ["ver1", "ver_batched1", "sb31", "sb3_zoo1"]
    assert order == [*first, "ver_batched2", "sb32", "sb3_zoo2", "ver2"]
    told = json.loads((tmp_path / "told.json").read_text())["environments"]["CartPole-v1"]
    assert (told["threshold"], told["budget"]) == (10, 64)
    assert [each["reached"] for each in told["systems"].values()] == [2, 2, 2, 2]
    assert told["systems"]["sb3"]["runs"][1]["ended"] == "had enough"
    assert "2 of 2" in capsys.readouterr().out
    assert main(words) == 0
    assert len((tmp_path / "order").read_text().split()) == len(order)


def test_cleanrl_is_left_out_where_there_is_to_remember(words, tmp_path, monkeypatch):
    monkeypatch.setitem(TASKS, "CartPole-v1", Task("CartPole-v1", 10, 64, ("network.memory=lstm",)))
    python = words[words.index("--sb3") + 1]
    assert main([*words, "--cleanrl", python, "--systems", "cleanrl,sb3", "--seeds", "1"]) == 0
    assert (tmp_path / "order").read_text().split() == ["sb31"]
    assert main([*words, "--cleanrl", python, "--systems", "cleanrl", "--seeds", "1"]) == 0


def test_what_an_interrupted_run_left_is_cleared_away(words, tmp_path):
    left = tmp_path / "runs" / "CartPole-v1_ver_1" / "diary" / "old.txt"
    left.parent.mkdir(parents=True)
    left.write_text("1.0 5 1000.0\n")
    assert main([*words, "--systems", "ver", "--seeds", "1"]) == 0
    assert not left.exists()


def test_a_run_without_an_episode_says_what_it_printed_last(words, monkeypatch, capsys):
    monkeypatch.setenv("FAILS", "1")
    with pytest.raises(side_by_side.UserError, match=r"sb3 ended with 1 .*no module named that"):
        main([*words, "--systems", "sb3"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--envs", "CartPole"], "--envs: unknown 'CartPole'"),
        (["--systems", "ver,tensorforce"], "--systems: unknown 'tensorforce'"),
        (["--systems", "sb3_zoo"], "sb3_zoo needs --sb3 PYTHON"),
        (["--systems", "cleanrl"], "cleanrl needs --cleanrl PYTHON"),
        (["--systems", "ver_envpool"], "ver_envpool needs EnvPool: pip install envpool"),
        (["--sample-factory", "/nowhere/python"], "sample_factory needs --sample-factory PYTHON"),
        (["--seeds", "0"], "--seeds must be at least 1, found 0"),
        (["--minutes", "0"], "--minutes must be above 0, found 0"),
    ],
)
def test_bad_input_is_one_line(words, told, capsys, monkeypatch):
    monkeypatch.setattr(side_by_side, "find_spec", lambda name: None)
    with pytest.raises((SystemExit, *USER_ERRORS)) as ended:
        main(words)
    said = capsys.readouterr().err.strip() or str(ended.value)
    assert told in said
    assert "\n" not in said
