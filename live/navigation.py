"""Steps by hand in a navigation task: one for each press of a key or a button."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from live.episodes import came_of
from live.page import Show
from live.steering import UNLIMITED, Pad
from nav.agent import FORWARD, LEFT, LOOK_DOWN, LOOK_UP, RIGHT, STOP
from nav.env import NavEnv
from nav.table import default_config
from skills.sight import AgentEye

KEYS = {
    "forward": ("arrowup", FORWARD),
    "left": ("arrowleft", LEFT),
    "right": ("arrowright", RIGHT),
    "look up": ("pageup", LOOK_UP),
    "look down": ("pagedown", LOOK_DOWN),
    "stop: I am there": ("enter", STOP),
}


class Walker:
    """Plays a navigation task by hand, without a limit of steps."""

    def __init__(self, task: str, split: str, page: Any) -> None:
        """Make the building; the page gets buttons, and the pace of the steps."""
        self._env = NavEnv(task, replace(default_config(task), max_steps=UNLIMITED), split)
        self._eye = AgentEye(self._env)
        self._asked: deque[int] = deque(maxlen=2)
        page.pace.step_time = 1.0 / NavEnv.metadata["render_fps"]
        Pad(page, {name: (key, self._ask(action)) for name, (key, action) in KEYS.items()})

    def _ask(self, action: int) -> Callable[[], None]:
        return lambda: self._asked.append(action)

    def play(self, number: int, show: Show) -> str:
        """See `live.agents.Agent`."""
        self._env.reset(seed=number)
        self._asked.clear()
        info: dict[str, Any] = {}
        while "metrics" not in info:
            show(self._eye.look, "")
            action = self.asked()
            if action is not None:
                *_, info = self._env.step(action)
        show(self._eye.look, "")
        return came_of(info["metrics"])

    def asked(self) -> int | None:
        """Take the oldest press that is an action of the task; None: there is none."""
        space: Any = self._env.action_space
        action = self._asked.popleft() if self._asked else None
        return action if action in range(int(space.start), int(space.start + space.n)) else None
