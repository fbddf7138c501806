import json

import pytest
import torch

from benchmarks import learner
from benchmarks.learner import NETWORKS, main, make, measure, parse
from skills.command import USER_ERRORS


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    networks = {
        "small": (40, {"hidden_size": 8, "visual_features": 8}),
        "large": (64, {"hidden_size": 8, "visual_features": 8, "memory": "lstm"}),
    }
    monkeypatch.setattr(learner, "NETWORKS", networks)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("count", [2, 16, 48])
def test_there_are_as_many_steps_to_learn_from_as_are_told(name, count):
    _, buffer = make(name, "float32", count, "cpu")
    slots, _ = buffer.complete_slots()
    assert len(slots) == count
    assert buffer.full


def test_figures_are_written(tmp_path, capsys):
    path = tmp_path / "a.json"
    words = ["--steps", "16,32", "--seconds", "0", "--networks", "large", "--precisions", "float32"]
    assert main([*words, "--json", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [row["steps"] for row in rows] == [16, 32]
    for row in rows:
        assert row["inference"] > row["epoch"] > 0.0
        assert f"{row['update']:,.0f}" in capsys.readouterr().out or row["update"] > 0.0


def test_memory_that_does_not_suffice_is_told(monkeypatch):
    def too_large(*arguments):
        raise torch.cuda.OutOfMemoryError

    monkeypatch.setattr(learner, "learning", too_large)
    row = measure("small", "bfloat16", 16, parse(["--seconds", "0"]))
    assert row["out_of_memory"]
    assert "update" not in row


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--networks", "huge"], "--networks: unknown 'huge': choose of small, large"),
        (["--steps", "17"], "--steps: whole numbers from 2 on, above 16 multiples of it"),
        (["--steps", "many"], "--steps: whole numbers"),
    ],
)
def test_what_cannot_be_is_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        parse(words)
