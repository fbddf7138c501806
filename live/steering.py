"""Steering by hand: keys and buttons for the base and the hand, sliders for the joints."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.robot import RobotSpec
from rearrange.robot.actions import HOLD, LET_GO
from rearrange.robot.kinematics import jacobian

UNLIMITED = 10**6  # steps of who steers: nine hours
NUDGE = 0.25  # [s] that a press of a key moves the robot
HAND_STEP = 0.3 / 30  # [m] of the hand in a step
DAMPING = 1e-3  # of the arm's inverse, near postures in which it cannot move the hand everywhere
DRIVES = {
    "drive ahead": ("arrowup", "forward", 1.0),
    "back": ("arrowdown", "forward", -1.0),
    "turn left": ("arrowleft", "turn", 1.0),
    "turn right": ("arrowright", "turn", -1.0),
}
HANDS = {
    "hand up": ("pageup", 2, 1.0),
    "hand down": ("pagedown", 2, -1.0),
    "hand ahead": ("I", 0, 1.0),
    "hand back": ("K", 0, -1.0),
    "hand left": ("J", 1, 1.0),
    "hand right": ("L", 1, -1.0),
}


class Pad:
    """Buttons that act as long as they are held, each with a key."""

    def __init__(self, page: Any, presses: Mapping[str, tuple[str, Callable[[], None]]]) -> None:
        """Put them on the page.

        Args:
            page: See `live.page.Page`.
            presses: Name -> key, and what a press does.
        """
        gui = page.server.gui
        page.folder.visible = True
        with page.folder:
            for name, (key, press) in presses.items():
                button = gui.add_button(f"{name}   [{key.removeprefix('arrow')}]")
                button.on_hold(_call(press))
                gui.add_command(name, hotkey=key).on_trigger(_call(press))


def _call(press: Callable[[], None]) -> Callable[[Any], None]:
    def called(event: Any) -> None:
        del event
        press()

    return called


class Steering:
    """Acts as somebody on the page wants."""

    def __init__(
        self, page: Any, robot: RobotSpec, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Put keys, buttons and sliders for a robot on the page."""
        self._layout, self._clock = robot.actions, clock
        self._until: dict[str, float] = {}  # when each press is over, by name
        gui = page.server.gui
        names = (*DRIVES, *HANDS)
        keys = {name: (DRIVES | HANDS)[name][0] for name in names}
        Pad(page, {name: (keys[name], self._press(name)) for name in names})
        with page.folder:
            self._grip = gui.add_checkbox("suction   [G]", False)
            with gui.add_folder("Joints", expand_by_default=False):
                self._sliders = {
                    name: gui.add_slider(name.replace("_", " "), -1.0, 1.0, 0.05, 0.0)
                    for name in self._layout.names[self._layout.arm]
                }
                still = gui.add_button("stand still")
        still.on_click(self._stand)
        gui.add_command("suction", hotkey="G").on_trigger(self._toggle)

    def _press(self, name: str) -> Callable[[], None]:
        def press() -> None:
            self._until[name] = self._clock() + NUDGE

        return press

    def _toggle(self, event: Any) -> None:
        del event
        self._grip.value = not self._grip.value

    def _stand(self, event: Any) -> None:
        del event
        for slider in self._sliders.values():
            slider.value = 0.0

    def __call__(self, world: RearrangeEnv) -> np.ndarray:
        """The action that is asked for, in the simulator's units [J + 3]."""
        layout, now = self._layout, self._clock()
        action = layout.physical()
        for name, slider in self._sliders.items():
            action[layout.names.index(name)] = slider.value
        for name, (_, moved, sign) in DRIVES.items():
            action[layout.names.index(moved)] += sign * (self._until.get(name, 0.0) > now)
        action *= world.task.action.scale(layout)
        motion = np.zeros(3)
        for name, (_, axis, sign) in HANDS.items():
            motion[axis] += sign * HAND_STEP * (self._until.get(name, 0.0) > now)
        if motion.any():
            action[layout.arm] += towards(world.robot, world.state.arm_joints[0], motion)
        action[layout.grip] = HOLD if self._grip.value else LET_GO
        return action


def towards(robot: RobotSpec, joints: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Changes of the joints [J] that move the hand.

    Args:
        robot: Whose.
        joints: Where they are [J], rad.
        motion: Of the hand in the base's frame [3], m.
    """
    linear = jacobian(robot, joints)[:3]
    return linear.T @ np.linalg.solve(linear @ linear.T + DAMPING * np.eye(3), motion)
