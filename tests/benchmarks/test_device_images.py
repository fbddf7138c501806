"""Images on a device beside the painter's: what is told, and what is refused."""

import json

import pytest
import torch

from benchmarks import device_images
from skills.command import USER_ERRORS


def test_the_device_is_measured_beside_the_painter(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(device_images, "DRAWS", 2)
    monkeypatch.setattr(device_images, "STEPS", 2)
    path = tmp_path / "told.json"
    words = ["--device", "cpu", "--worlds", "2,3", "--size", "16", "--repeats", "2"]
    assert device_images.main([*words, "--json", str(path)]) == 0
    told = json.loads(path.read_text())
    assert told["device"] == "cpu"
    assert list(told["images"]) == ["16"]
    assert list(told["images"]["16"]) == ["2", "3"]
    for found in told["images"]["16"].values():
        assert found.pop("share_off") <= 0.002
        assert len(found) == 4
        assert min(found.values()) > 0.0
    assert "painter" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--device", "cpu", "--worlds", "0"], "--worlds: whole numbers of at least 1"),
        (["--device", "cpu", "--size", "64,x"], "--size: whole numbers of at least 1"),
        (["--device", "cpu", "--repeats", "0"], "--repeats must be at least 1, found 0"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        device_images.main(words)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_without_a_cuda_device_that_is_told():
    with pytest.raises(USER_ERRORS, match=r"^--device=cuda"):
        device_images.main(["--device", "cuda"])
