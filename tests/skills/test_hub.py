"""Policies on a Hub: pushed and pulled with the real client, against a stand-in of its server."""

import json
from functools import partial
from typing import NamedTuple

import huggingface_hub
import pytest
from huggingface_hub import constants

from rearrange.errors import UserError
from skills import hub
from skills.command import run_command
from skills.eval import main as evaluate
from skills.provenance import checksum
from skills.settings import CHECKPOINTS
from tests.helpers.fake_hub import FakeHub

POLICY = CHECKPOINTS / "close_fridge.safetensors"


@pytest.fixture
def server():
    server = FakeHub()
    yield server
    server.close()


class Ended(NamedTuple):
    """How the command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(server, tmp_path, monkeypatch, capsys):
    """Runs the command against the stand-in, in a folder of its own."""
    own = partial(huggingface_hub.HfApi, endpoint=server.endpoint)
    monkeypatch.setattr(huggingface_hub, "HfApi", own)
    # The client reads these from the environment once, at its import
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
    monkeypatch.setenv("HF_TOKEN", "hf_any")
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["skills.hub", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            run_command(hub.main)
        return Ended(left.value.code or 0, *capsys.readouterr())

    return run


def test_what_is_pulled_is_what_was_pushed(run, server, tmp_path):
    pushed = run("push", POLICY, "me/close_fridge")
    assert pushed.returncode == 0, pushed.stderr
    assert pushed.stdout == f"{server.endpoint}/me/close_fridge\n"
    assert set(server.repositories["me/close_fridge"]) == set(hub.FILES)
    assert any(each.startswith("PUT /lfs/") for each in server.asked)
    pulled = run("pull", "me/close_fridge")
    assert pulled.returncode == 0, pulled.stderr
    file = tmp_path / pulled.stdout.strip()
    assert file.relative_to(tmp_path).parts == ("runs", "hub", "me", "close_fridge", hub.POLICY)
    assert checksum(file) == checksum(POLICY)
    figures = hub.result_in_ledger(POLICY)
    assert figures is not None
    card = (file.parent / "README.md").read_text()
    assert f"| the policy | {figures['episodes']} | " in card
    assert "| random actions | " in card


def test_a_pulled_policy_evaluates_to_the_same_records(run, tmp_path):
    pushed = CHECKPOINTS / "pointnav.safetensors"
    assert run("push", pushed, "me/pointnav").returncode == 0
    pulled = tmp_path / run("pull", "me/pointnav").stdout.strip()

    def records(policy, path):
        words = ["--episodes", "2", "--workers", "1", "--seed", "3", "--json", str(path)]
        words += ["task.max_steps=40"]
        assert evaluate(["pointnav", "--checkpoint", str(policy), *words]) == 0
        return json.loads(path.read_text())["per_episode"]

    assert records(pulled, tmp_path / "pulled.json") == records(pushed, tmp_path / "pushed.json")


def test_a_policy_that_nobody_judged_has_no_figures(tmp_path):
    other = tmp_path / "policy.safetensors"
    other.write_bytes(POLICY.read_bytes()[:-1])
    assert hub.result_in_ledger(other) is None
    assert "It was not evaluated" in hub.model_card("me/any", {"skill": "pick"}, None)


def test_what_is_not_there_or_no_policy_is_told_in_one_line(run, server):
    server.repositories["me/letters"] = {"README.md": b"hello"}
    for name, told in (
        ("me/nobody", "me/nobody: "),
        ("me/letters", "me/letters holds no policy.safe"),
    ):
        done = run("pull", name)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {told}")
        assert done.stderr.count("\n") == 1
    done = run("push", "nothing.safetensors", "me/nothing")
    assert (done.returncode, done.stderr.startswith("error: No checkpoint at")) == (2, True)


@pytest.mark.parametrize("name", ["me", "a/b/c"])
def test_a_name_that_is_no_repository_is_refused_before_the_hub_is_asked(name):
    with pytest.raises(UserError, match=f"'{name}': a repository is OWNER/NAME"):
        hub.parse(["pull", name])


def result_of(path, policy):
    rate = {"mean": 0.962, "low": 0.941, "high": 0.976}
    made = {
        "checkpoints": {"any": checksum(policy)},
        "command": "python -m skills.eval close_fridge",
    }
    made |= {"commit": 40 * "a", "dirty": False}
    rows = {"blind": {"episodes": 20, "success_at_end": rate | {"mean": 0.0}}}
    whole = {"made": made, "episodes": 500, "split": "val", "success_at_end": rate, "rows": rows}
    path.write_text(json.dumps(whole))
    return path


@pytest.mark.parametrize(
    ("split", "told"),
    [
        ("val", "In homes of the split `val` that nothing was trained in, with 95 % intervals."),
        ("train", "In homes of the split `train` in which policies are trained, with"),
        ("", "In episodes of the data set that the command names, with"),
    ],
)
def test_a_card_says_where_a_policy_was_judged(tmp_path, split, told):
    result = hub.checked_result(result_of(tmp_path / "result.json", POLICY), POLICY)
    assert told in hub.model_card("me/any", {"skill": "close_fridge"}, result | {"split": split})


def test_a_result_without_success_is_refused(tmp_path):
    path = result_of(tmp_path / "result.json", POLICY)
    whole = json.loads(path.read_text())
    del whole["success_at_end"]
    path.write_text(json.dumps(whole))
    with pytest.raises(UserError, match=r"expected what skills\.eval --json writes of a task with"):
        hub.checked_result(path, POLICY)


def test_a_card_has_the_figures_of_this_very_policy(tmp_path):
    result = hub.checked_result(result_of(tmp_path / "result.json", POLICY), POLICY)
    card = hub.model_card("me/close_fridge", {"skill": "close_fridge"}, result)
    assert "| the policy | 500 | 96.2 (94.1 to 97.6) |" in card
    assert "| blind | 20 | 0.0 (94.1 to 97.6) |" in card
    assert card.startswith("---\nlibrary_name: rearrange\n")
    other = result_of(tmp_path / "other.json", CHECKPOINTS / "pick.safetensors")
    with pytest.raises(Exception, match="was made with another policy"):
        hub.checked_result(other, POLICY)
    other.write_text("{}")
    with pytest.raises(Exception, match=r"expected what skills\.eval --json writes"):
        hub.checked_result(other, POLICY)
