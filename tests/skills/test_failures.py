"""Tests of skills.failures."""

from pathlib import Path

import pytest

import ver
from rearrange.episodes import EpisodeSet
from rearrange.errors import UserError
from skills import failures
from skills.settings import CHECKPOINTS

PICK = CHECKPOINTS / "pick.safetensors"


def test_what_fails_is_written_and_can_be_played_again(tmp_path: Path) -> None:
    player = failures.Trainee(str(PICK), seed=3)
    number = next(k for k in range(100) if not player.play(k).success)
    played = player.play(number)
    again = failures.Trainee(str(PICK), seed=3).play(number)
    assert again == played
    path = tmp_path / "failures_train.json.gz"
    EpisodeSet.of("pick", "train", 3, "test", [played.episode]).save(path)
    loaded = EpisodeSet.load(path, "pick", "train")
    assert loaded.episode(0).base_pose == pytest.approx(played.episode.base_pose, abs=1e-4)
    assert loaded.episode(0).targets[0].slot == played.episode.targets[0].slot


def test_episodes_are_those_of_training() -> None:
    metadata = {"skill": "pick", "task": {"open_share": 0.25}, "split": "val", "camera_size": 64}
    metadata |= {"slide": True, "starts": {"paths": ["gone"]}, "steps": 7}
    found = failures.environments(metadata)
    assert (found.split, found.starts, found.task) == ("train", {}, {"open_share": 0.25})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--episodes", "0"], "--episodes must be at least 1, found 0"),
        (["--workers", "0"], "--workers must be at least 1, found 0"),
    ],
)
def test_bad_numbers_are_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    whole = ["pick", "--checkpoint", str(PICK), "--out", str(tmp_path), *arguments]
    with pytest.raises(UserError, match=message):
        failures.parse(whole)


def test_a_policy_of_another_skill_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ver.UserError, match="holds a policy for 'pick', not for 'place'"):
        failures.parse(["place", "--checkpoint", str(PICK), "--out", str(tmp_path)])
