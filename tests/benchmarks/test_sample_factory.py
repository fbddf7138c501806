import json
import sys

import pytest

from benchmarks import own_session, sample_factory
from ver import UserError


@pytest.fixture
def make_python(tmp_path, monkeypatch):
    """Stands for the interpreter of a venv with Sample Factory: notes its words, does as told."""
    monkeypatch.setattr(own_session, "TRACKER_S", 0.1)  # it has no named semaphores

    def make(body):
        path = tmp_path / "python"
        path.write_text(f"#!{sys.executable}\nimport json, sys\nwords = sys.argv[1:]\n{body}\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_rates_leave_the_first_rollout_out():
    marks = [(10.0, 500), (12.0, 700), (13.0, 1100)]
    assert sample_factory.rates(marks) == {"mean_sps": 200.0, "max_sps": 400.0}


def test_runs_alternate_and_are_compared_within_a_repeat(
    make_python, monkeypatch, tmp_path, capsys
):
    python = make_python(
        "seed = int(words[words.index('--seed') + 1])\n"
        "open(words[words.index('--output') + 1], 'w').write(json.dumps([[0, 0], [1, 100 * seed]]))"
    )
    order = []

    def train(case, seconds):
        config, _ = case
        assert (seconds, config.collect.num_environments) == (5.0, 16)
        assert not config.network.previous_action_features
        order.append((config.system, config.seed))
        return {"mean_sps": 150.0 * config.seed, "max_sps": 300.0, "seed": config.seed}

    monkeypatch.setattr(sample_factory, "train", train)
    monkeypatch.setattr(sample_factory, "skill_limit", lambda skill, seed: 1000.0)
    path = tmp_path / "result.json"
    words = ["--python", python, "--seconds", "5", "--repeats", "2", "--json", str(path)]
    assert sample_factory.main(words) == 0
    assert order == [("appo", 1), ("ver", 1), ("appo", 2), ("ver", 2)]
    assert "1.50 (1.50 to 1.50)" in capsys.readouterr().out
    systems = json.loads(path.read_text())["systems"]
    assert [run["mean_sps"] for run in systems["sample_factory"]] == [100.0, 200.0]


@pytest.mark.parametrize(
    ("body", "ending"),
    [("sys.exit(3)", "ended with 3"), ("import time; time.sleep(60)", r"was ended after \d s")],
)
def test_a_run_without_a_result_says_what_it_printed_last(make_python, monkeypatch, body, ending):
    python = make_python(f"print('no module named sample_factory', flush=True)\n{body}")
    monkeypatch.setattr(sample_factory, "skill_limit", lambda skill, seed: 1000.0)
    monkeypatch.setattr(sample_factory, "STARTUP_S", 0.5)
    words = ["--python", python, "--systems", "sample_factory", "--seconds", "0.5"]
    with pytest.raises(UserError, match=rf"{ending} without.*no module named sample_factory"):
        sample_factory.main(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--python", "/nowhere/python"], "there is no /nowhere/python"),
        (["--python", sys.executable, "--systems", "ver,impala"], "unknown system 'impala'"),
        (["--python", sys.executable, "--skill", "fly"], "unknown skill 'fly'"),
        (["--python", sys.executable, "--repeats", "0"], "must be above zero"),
    ],
)
def test_bad_input_is_one_line(words, message, capsys):
    with pytest.raises(SystemExit):
        sample_factory.main(words)
    said = capsys.readouterr().err.strip()
    assert message in said
    assert "\n" not in said
