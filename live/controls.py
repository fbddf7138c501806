"""Controls of the page: pause, speed, the step to look back at, and the episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from live.pace import Pace

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")
AGAIN, NEXT = "play again", "next"
LAST = 2**31  # number of an episode, as of --episode


class Controls:
    """Widgets, and what they do to the pace.

    Attributes:
        number: Of the episode that is played.
        told: The same in words.
        on_begin: Called with the number of each episode that begins.
    """

    def __init__(self, gui: Any, pace: Pace, look_back: Callable[[int], None]) -> None:
        """Put them on the page.

        Args:
            gui: Of viser.
            pace: That they set.
            look_back: Shows a step of the episode.
        """
        self._gui, self._pace, self._look_back = gui, pace, look_back
        self.number, self.told, self._steps = 0, "", 0
        self.on_begin: Callable[[int], None] | None = None
        with gui.add_folder("Time"):
            self.pause = gui.add_checkbox("pause", False)
            self.speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
            self.step = gui.add_button("one step")
            self.back = gui.add_slider("look back", 0, 1, 1, 0, disabled=True)
        self.episodes = gui.add_folder("Episode")
        with self.episodes:
            self.which = gui.add_number("number", 0, min=0, max=LAST, step=1)
            self.play = gui.add_button("play this number")
            self.other = gui.add_button_group("or", (AGAIN, NEXT))
        self._follow = gui.add_checkbox("follow the robot", True)
        self._connect()

    @property
    def follows(self) -> bool:
        """True if the cameras go with the robot."""
        return bool(self._follow.value)

    def begin(self, number: int) -> None:
        """Note which episode is played."""
        self.number = self.which.value = number
        self.told = f"episode {number}"
        if self.on_begin is not None:
            self.on_begin(number)

    def only_watch(self) -> None:
        """Take away what a world that others step does not do."""
        for widget in (self.speed, self.step, self.episodes):
            widget.visible = False

    def note(self, steps: int) -> None:
        """Note how many steps of the episode can be looked back at."""
        self._steps = steps
        if self._pace.paused:
            self._extend()

    def set_pause(self, paused: bool) -> None:
        """Stop, or go on."""
        self.pause.value = self._pace.paused = paused
        self.back.disabled = not paused
        if paused:
            self._extend()

    def _extend(self) -> None:
        """Let the slider reach from the first step to the last, and stand there."""
        self.back.max = max(self._steps - 1, 1)
        self.back.value = max(self._steps - 1, 0)

    def _connect(self) -> None:
        pace = self._pace

        @self.pause.on_update
        def _(event: Any) -> None:
            self.set_pause(bool(event.target.value))

        @self._gui.add_command("pause", hotkey="space").on_trigger
        def _(event: Any) -> None:
            self.set_pause(not pace.paused)

        @self.speed.on_update
        def _(event: Any) -> None:
            pace.speed = float(event.target.value)

        @self.step.on_click
        def _(event: Any) -> None:
            self.set_pause(True)
            pace.step_once()

        @self.back.on_update
        def _(event: Any) -> None:
            if event.client is not None:  # a person moved it
                self._look_back(int(event.target.value))

        @self.play.on_click
        def _(event: Any) -> None:
            pace.leave(min(max(int(self.which.value), 0), LAST))

        @self.other.on_click
        def _(event: Any) -> None:
            pace.leave(self.number if event.target.value == AGAIN else None)
