"""What the widgets do; an agent that counts its steps plays."""

from types import SimpleNamespace

import numpy as np
import pytest

from live.__main__ import play_all
from skills.sight import FLOOR, Sight


class Counting:
    """An agent whose world counts its steps."""

    def __init__(self, steps):
        self.steps, self.played = steps, []

    def play(self, number, show):
        self.played.append(number)
        for step in range(self.steps):
            pose = np.array([(0, 0, 0, 1, 0, 0, 0), (0.01 * step, 0, 0, 1, 0, 0, 0)], np.float32)
            sight = Sight(
                FLOOR, "pointnav", "layout5000_variation00", f"{number}", step, self.steps, "",
                (0.01 * step, 0.0, 0.0), poses=pose,
            )  # fmt: skip
            show(lambda size, sight=sight: sight, "")
        return "success, all steps"


def press(widget, **event):
    """What viser calls when somebody uses a widget."""
    event = SimpleNamespace(target=widget, client=None, client_id=None, **event)
    for callback in widget._impl.update_cb:
        callback(event)


def test_episodes_follow_each_other_or_are_chosen(page, monkeypatch):
    monkeypatch.setattr("live.page.HOLD", 0.0)
    agent = Counting(3)
    play_all(agent, page, 7, 3)
    assert agent.played == [7, 8, 9]
    assert page.tally == "so far: 3 of 3 succeeded"
    page.controls.which.value = 21
    press(page.controls.play)
    play_all(agent, page, 10, 3)
    assert agent.played[3:] == [10, 21, 22]
    page.controls.other.value = "play again"
    press(page.controls.other)
    play_all(agent, page, 30, 2)
    assert agent.played[6:] == [30, 22]  # what was played when the button was pressed


def test_pause_steps_speed_and_the_look_back(page):
    controls = page.controls
    controls.speed.value = "0.25"
    press(controls.speed)
    assert page.pace.speed == 0.25
    page.pace.speed = 1000.0
    agent = Counting(6)
    agent.play(0, page.show)
    assert controls.back.disabled
    press(controls.step)
    assert page.pace.paused
    assert controls.pause.value
    agent.play(1, lambda look, words: page.draw(look, words))
    assert (controls.back.max, controls.back.value) == (5, 5)
    assert not controls.back.disabled
    assert page._moving[1].position[0] == pytest.approx(0.05)
    controls.back.value = 2
    for callback in controls.back._impl.update_cb:
        callback(SimpleNamespace(target=controls.back, client=object()))
    assert page._moving[1].position[0] == pytest.approx(0.02)


def test_what_can_be_looked_back_at_does_not_grow_for_ever(page, monkeypatch):
    monkeypatch.setattr("live.page.KEPT", 4)
    Counting(6).play(0, page.show)
    assert [sight.step for sight in page._past] == [2, 3, 4, 5]


def test_a_number_that_is_no_episodes_is_cut(page):
    page.controls.which.value = 1e30
    press(page.controls.play)
    assert page.pace.following(0) == 2**31
