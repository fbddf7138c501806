"""Where a result comes from."""

import hashlib
import json
import subprocess
from argparse import ArgumentParser

import pytest
import torch

from rearrange.errors import UserError
from skills.provenance import (
    ROOT,
    add_homes,
    check_homes_asked,
    command_line,
    commit_of,
    made,
    write_result,
)


def test_commands_are_told_without_private_folders(tmp_path):
    word = f"learned,pick={tmp_path}/p.safetensors,place=data/q.safetensors"
    told = command_line(
        "planner.eval", ["tidy_house", "--skills", word, f"--json={tmp_path}/c.json"]
    )
    skills = "learned,pick=p.safetensors,place=data/q.safetensors"
    assert told == f"python -m planner.eval tidy_house --skills {skills} --json=c.json"


def test_a_result_names_command_seed_and_policies(tmp_path):
    policy = tmp_path / "p.safetensors"
    policy.write_bytes(b"weights")
    told = made(
        "skills.eval", ["pick", "--json", str(tmp_path / "a b.json")], what="pick", seed=3,
        split="val", checkpoints=[policy],
    )  # fmt: skip
    assert told["command"] == "python -m skills.eval pick --json 'a b.json'"
    assert told["checkpoints"] == {"p.safetensors": hashlib.sha256(b"weights").hexdigest()}
    assert (told["seed"], told["split"], told["release"]) == (3, "val", "")
    assert {"python", "torch", "mujoco", "numpy"} <= set(told["versions"])
    assert told["date"].endswith("Z")
    assert {"cpu", "cores", "kind"} <= set(told["machine"])
    assert told["machine"]["vectors"] == torch.backends.cpu.get_cpu_capability()


def test_policies_of_the_same_name_are_all_told(tmp_path):
    paths = [tmp_path / run / "policy.safetensors" for run in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(path.parent.name.encode())
    told = made("skills.eval", [], what="a study", checkpoints=paths)["checkpoints"]
    assert list(told) == ["policy.safetensors", "policy.safetensors (2)"]
    assert list(told.values()) == [hashlib.sha256(name).hexdigest() for name in (b"a", b"b")]


def test_a_copy_in_another_repository_is_of_no_commit(tmp_path):
    who = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    copy = tmp_path / "venv" / "site-packages"
    (copy / "skills").mkdir(parents=True)
    (copy / "skills" / "a.py").write_text("a = 1")
    (tmp_path / ".gitignore").write_text("venv")
    for words in (["init"], ["add", ".gitignore"], ["commit", "-m", "theirs"]):
        subprocess.run([*who, *words], check=True, capture_output=True)
    assert commit_of(copy) == ("unknown", None)


def test_who_copies_sources_without_git_says_of_which_commit_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_COMMIT", "0123abcd")
    assert commit_of(tmp_path) == ("0123abcd", None)


def test_a_changed_source_makes_a_tree_dirty(tmp_path):
    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        command = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    assert commit_of(tmp_path) == ("unknown", None)
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "a.py").write_text("a = 1")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    head = git("rev-parse", "HEAD")
    (tmp_path / "README.md").write_text("documents do not count")
    assert commit_of(tmp_path) == (head, False)
    (tmp_path / "skills" / "b.py").write_text("new = 1")
    assert commit_of(tmp_path) == (head, True)


def test_written_results_hold_no_absolute_paths(tmp_path):
    path = tmp_path / "r.json"
    write_result(path, {"a": str(tmp_path / "x.json"), "b": [ROOT / "data"], "/home/me/p": 1.5})
    assert json.loads(path.read_text()) == {"a": "x.json", "b": ["data"], "p": 1.5}


def test_only_releases_see_the_test_split():
    def check(*arguments):
        parser = ArgumentParser()
        add_homes(parser)
        check_homes_asked(parser.parse_args(arguments))

    check()
    check("--split", "test", "--release", "1.0")
    with pytest.raises(UserError, match="say --release NAME"):
        check("--split", "test")
    with pytest.raises(UserError, match="leave it out"):
        check("--release", "1.0")
    with pytest.raises(UserError, match="unknown split 'moon'"):
        check("--split", "moon")
