"""Frames of objects."""

import numpy as np
import pytest

from rearrange.scenes.object_files.looks import Frame


def test_a_frame_moves_points_and_only_turns_directions():
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    frame = Frame(2.0 * turn, np.array([0.0, 0.0, 5.0]))
    assert frame.points(np.array([[1.0, 0.0, 1.0]]))[0] == pytest.approx([0.0, 2.0, 7.0])
    assert frame.directions(np.array([[1.0, 0.0, 0.0]]))[0] == pytest.approx([0.0, 1.0, 0.0])
