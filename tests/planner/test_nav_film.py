"""Films of navigation tasks show what is played."""

import imageio.v3
import numpy as np
import pytest

from nav.picture import SIZE
from planner.nav_film import CAPTION, LAST_FRAMES, NavPlayer
from rearrange.errors import UserError
from rearrange.scenes.registry import CLASSIC
from skills.command import USER_ERRORS


def test_a_film_has_a_frame_for_each_step_and_then_the_result(tmp_path):
    player, told, path = NavPlayer("pointnav", "oracle", 0, CLASSIC), [], tmp_path / "x.mp4"
    take = player.play(1, None, told.append)
    assert player.play(1, path, told.append) == take
    assert told[0] == "step 30"
    frames = imageio.v3.imread(path)
    steps = int(take.told.split()[0])
    assert frames.shape == (steps + LAST_FRAMES, SIZE + CAPTION, 2 * SIZE, 3)
    for part in (frames[0, :SIZE, :SIZE], frames[0, :SIZE, SIZE:], frames[-1, SIZE:]):
        assert np.std(part) > 5  # a picture, not a plain colour
    assert (frames[-1, SIZE:] != frames[0, SIZE:]).any()


@pytest.mark.parametrize(
    ("words", "told"),
    [("spa", "plays whole chores"), ("monolithic", "plays whole chores")],
)
def test_who_plays_chores_alone_is_refused(words, told):
    with pytest.raises(UserError, match=told):
        NavPlayer("objectnav", words, 0, CLASSIC)


def test_the_policy_of_another_task_is_refused():
    from skills.settings import CHECKPOINTS

    with pytest.raises(USER_ERRORS, match=r"policy for .pointnav., not for"):
        NavPlayer("objectnav", "mixed", 0, CLASSIC, CHECKPOINTS / "pointnav.safetensors")
