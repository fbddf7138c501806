"""Training a segmenter: by a command, with figures that can be worked out."""

import json

import numpy as np
import pytest
import torch

from nav.categories import CATEGORIES
from nav.segmenter import LABELS, load_segmenter
from skills import eval as evaluation
from skills import segmenter as training
from skills.command import USER_ERRORS
from skills.segmenter import Pictures, agent_config, judge, learn


def squares(count: int, rng: np.random.Generator) -> Pictures:
    """A square of the second category on something, told apart by its colour alone."""
    rgb = np.full((count, 16, 16, 3), 90, np.uint8)
    labels = np.zeros((count, 16, 16), np.uint8)
    for k in range(count):
        i, j = rng.integers(0, 9, 2)
        rgb[k, i : i + 7, j : j + 7] = (200, 40, 40)
        labels[k, i : i + 7, j : j + 7] = 2
    return Pictures(rgb, np.ones((count, 16, 16, 1), np.float16), labels)


@pytest.mark.slow
def test_it_learns_what_a_colour_tells():
    rng = np.random.default_rng(0)
    found = judge(learn(squares(256, rng), 20, 1), squares(64, rng))
    assert found["categories"].keys() == {CATEGORIES[1]}
    assert found["mean_iou"] > 0.9


def test_figures_by_hand():
    class Told:
        def labels(self, rgb, depth):
            return np.array([[[1, 1, 0], [2, 2, 2]]], np.uint8)

    true = np.array([[[1, 0, 1], [2, 2, 2]]], np.uint8)
    pictures = Pictures(np.zeros((1, 2, 3, 3), np.uint8), np.zeros((1, 2, 3, 1), np.float16), true)
    found = judge(Told(), pictures)  # type: ignore[arg-type]
    assert found["accuracy"] == pytest.approx(4 / 6)
    first, second = found["categories"][CATEGORIES[0]], found["categories"][CATEGORIES[1]]
    assert (first["pixels"], second["pixels"]) == (2, 3)
    assert first["iou"] == pytest.approx(1 / 3)
    assert first["recall"] == first["precision"] == 0.5
    assert second["iou"] == second["recall"] == second["precision"] == 1.0
    assert found["mean_iou"] == pytest.approx(2 / 3)
    assert 1 + len(CATEGORIES) == LABELS


def test_the_command_writes_a_segmenter_and_its_figures_and_repeats(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        training, "building_names", lambda homes, split: ("layout1000_variation00",)
    )
    torch.set_num_threads(1)
    files = []
    for name in "ab":
        file, figures = tmp_path / f"{name}.safetensors", tmp_path / f"{name}.json"
        few = ["--images", "70", "--judged", "64", "--epochs", "1", "--seed", "3"]
        assert training.main([*few, "--output", str(file), "--json", str(figures)]) == 0
        files.append(file.read_bytes())
    assert files[0] == files[1]
    said = capsys.readouterr()
    assert "mean IoU" in said.out
    assert "drawing pictures: 0 of 128" in said.err
    record = json.loads(figures.read_text())
    assert record["images"] == 70
    assert set(record["categories"]) <= set(CATEGORIES)
    assert record["made"]["split"] == "val"
    load_segmenter(str(file), agent_config())


@pytest.mark.parametrize("words", [["--images", "0"], ["--epochs", "0"], ["--split", "test"]])
def test_bad_options_are_one_line(words):
    with pytest.raises((*USER_ERRORS, SystemExit)):
        training.parse(words)


def test_an_evaluation_takes_another_segmenter():
    options = evaluation.parse(["objectnav", "agent.segmenter=x.safetensors"])
    assert (options.agent, options.changes) == ({"segmenter": "x.safetensors"}, {})
    for skill in ("pick", "pointnav"):
        with pytest.raises(USER_ERRORS, match="seeks no category"):
            evaluation.parse([skill, "agent.segmenter=x.safetensors"])
    with pytest.raises(USER_ERRORS, match=r"takes no agent\.segmenter=x: leave it out"):
        evaluation.parse(["objectnav", "agent.segmenter=x", "--policy", "oracle"])
