import re

import numpy as np
import pytest

from rearrange.action_pipeline import ActionPipeline, checked_action, to_physical
from rearrange.robot.fetch import FETCH
from rearrange.tasks import make_task

LAYOUT = FETCH.actions


def test_an_action_is_clipped_and_scaled_and_what_a_task_leaves_out_is_nothing():
    task = make_task("navigate")
    pipeline = ActionPipeline(task, 2)
    pipeline.take(np.array([[2.0, -1.0, 1.0], [0.5, 0.0, -1.0]]))
    physical = pipeline.physical()
    scale = task.action.scale(LAYOUT)
    assert physical.shape == (2, pipeline.size)
    np.testing.assert_array_equal(physical[:, :-2], 0.0)
    np.testing.assert_allclose(physical[:, -2:] / scale[-2:], [[1.0, -1.0], [0.5, 0.0]])


def test_stop_is_called_once():
    pipeline = ActionPipeline(make_task("navigate"))
    pipeline.take(np.array([1.0, 0.0, 1.0]))
    before = pipeline.physical()
    assert pipeline.stops
    pipeline.repeated()
    assert not pipeline.stops
    np.testing.assert_array_equal(pipeline.physical(), before)
    pipeline.clear()
    np.testing.assert_array_equal(pipeline.full, 0.0)


def test_an_action_in_the_simulators_units_stays_as_it_is():
    pipeline = ActionPipeline(make_task("pick"))
    action = np.linspace(-3.0, 3.0, pipeline.size)
    for stop, told in ((True, 1.0), (False, -1.0)):
        whole = pipeline.whole(action, stop)
        np.testing.assert_array_equal(whole, [[*action, told]])
    with pytest.raises(ValueError, match="finite"):
        pipeline.whole(np.full(pipeline.size, np.nan), False)
    with pytest.raises(ValueError, match="expected an action of shape"):
        pipeline.whole(action[1:], False)


def test_what_is_not_finite_is_told_as_it_was_given():
    task = make_task("pick")
    pipeline = ActionPipeline(task, 2)
    action = np.zeros((2, task.action_size), np.float32)
    action[1, 3] = np.nan
    pipeline.take(action)
    told = " ".join(str(action[1]).split())
    with pytest.raises(ValueError, match=f"^actions must be finite, found {re.escape(told)}$"):
        pipeline.physical()


def test_what_is_no_action_is_refused():
    with pytest.raises(ValueError, match="finite"):
        to_physical(np.ones(2), np.array([[0.0, np.inf]]))
    with pytest.raises(ValueError, match="found str"):
        checked_action("left", (2,))
