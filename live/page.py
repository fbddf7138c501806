"""The page: the home in 3D, what the head camera sees, and what is going on in words."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from contextlib import AbstractContextManager, redirect_stdout
from io import StringIO
from typing import Any, Protocol

import numpy as np
import viser

from live.bars import bars
from live.controls import Controls
from live.geometry import Part, parts_in
from live.pace import Pace
from rearrange.sim.base import CONTROL_STEP
from skills.sight import Sight

POSES, PICTURES = 1 / 20, 1 / 8  # [s] between updates of bodies, and of picture and words
PICTURE = 128  # pixels of the camera's image
WALL_OPACITY = 0.12
CAMERA = np.array([-1.4, -1.4, 2.9])  # from the robot when following it begins [m]
LOOKED_AT = np.array([0.0, 0.0, 0.6])  # likewise
ABOVE_PANEL = np.array([-0.9, -0.9, 0.0])  # likewise, on upright screens: the panel lies below
GOAL = (80, 220, 120)
KEPT = 10_000  # steps to look back at: an episode that is driven by hand has no end
HOLD = 1.5  # [s] that the end of an episode stands still
LARGEST_REWARD = 0.2  # whose bar is as long as there is room

Look = Callable[[int | None], Sight]  # a world now; takes the size of the picture, None for none


class Show(Protocol):
    """Callback of an agent after every step, see `Page.show`."""

    def __call__(self, look: Look, words: str = "", beliefs: str = "") -> None:
        """Show the world."""
        ...


class Page:
    """Shows one world at a time.

    Attributes:
        pace: When steps may follow.
        controls: Pause, speed, episodes.
        folder: Where agents may put what they are steered by.
        training: Where a training puts its curves.
        tally: What came of the episodes so far, a line.
        pause_at: Step of an episode from which on it pauses, once, where somebody looks; None: none.
    """

    def __init__(self, host: str, port: int, title: str) -> None:
        """Start the server; `port` may be taken, then it is the next."""
        # A browser that gives up while a home is compiled leaves a traceback there
        logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
        with _silence():
            self.server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
        self.server.scene.set_up_direction("+z")
        self.server.scene.add_light_ambient("/light", intensity=0.3)
        self.pace = Pace(CONTROL_STEP)
        gui = self.server.gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        self._words = gui.add_markdown(f"**{title}**\n\nstarting; the first time it compiles, too")
        self._picture = gui.add_image(np.zeros((PICTURE, PICTURE, 3), np.uint8))
        self.folder = gui.add_folder("Steering", visible=False)
        self.training = gui.add_folder("Training", visible=False)
        self.controls = Controls(gui, self.pace, self._look_back)
        beliefs, plan = (_Text(gui, title) for title in ("Beliefs", "Plan or policy"))
        self._told = plan, beliefs
        with gui.add_folder("Action and reward"):
            self._numbers = gui.add_html("")
        self.tally = ""
        self.pause_at: int | None = None
        self._moving: dict[int, Any] = {}  # frames of viser, by body
        self._parts: dict[str, tuple[Hashable, Any]] = {}  # Part.key and mesh of viser, by name
        self._goals: list[Any] = []
        self._shown: tuple[Any, ...] = ()
        self._poses = np.empty((0, 7))  # of the bodies, as they were last sent
        self._followed: dict[int, np.ndarray] = {}  # where the robot was, by client
        self._past: list[Sight] = []  # of this episode, some with pictures
        self._posed = self._pictured = 0.0

    @property
    def port(self) -> int:
        """Port on which the page is served."""
        return self.server.get_port()

    @property
    def is_watched(self) -> bool:
        """True if a browser shows it."""
        return bool(self.server.get_clients())

    def show(self, look: Look, words: str = "", beliefs: str = "") -> None:
        """Show the world as it is now, as often as eyes need it, and wait until the next step is due.

        Args:
            look: Gives what can be seen.
            words: The plan, or who acts, in HTML.
            beliefs: Of the robot, likewise.

        Raises:
            NextEpisode: Somebody asked for another.
        """
        self.draw(look, words, beliefs)
        self.pace.wait()

    def draw(self, look: Look, words: str = "", beliefs: str = "") -> None:
        """`show` without waiting."""
        now = time.monotonic()
        pictured = now - self._pictured >= PICTURES or self.pace.paused
        sight = look(PICTURE if pictured else None)
        if self.pause_at is not None and sight.step >= self.pause_at and self.is_watched:
            self.pause_at, pictured, sight = None, True, look(PICTURE)
            self.controls.set_pause(True)
        if sight.scene != self._shown:
            with self.server.atomic():  # else each message wakes the thread that sends
                self._build(sight)
            self._past.clear()
        if self.pace.paused or now - self._posed >= POSES:
            self._posed = now
            self._pose(sight)
        if pictured:
            self._pictured = now
            self._tell(sight, words, beliefs)
        if not self._past or sight.step != self._past[-1].step:
            self._past.append(sight)
        elif sight.picture is not None:  # a world that waits, for a key or a learner
            self._past[-1] = sight
        del self._past[:-KEPT]
        self.controls.note(len(self._past))

    def hold(self, outcome: str) -> None:
        """Let the end of an episode stand for a moment.

        Args:
            outcome: What came of it, in Markdown.

        Raises:
            NextEpisode: Somebody asked for another.
        """
        self._words.content = f"{self._words.content}\n\n**{outcome}**"
        self._pictured = 0.0
        self.pace.hold(HOLD)

    def close(self) -> None:
        """End the server."""
        with _silence():
            self.server.stop()

    def _look_back(self, step: int) -> None:
        """Show an earlier step of the episode, while it is paused."""
        if self.pace.paused and step < len(self._past):
            sight = self._past[step]
            self._pose(sight)
            self._tell(sight, "an earlier step: one step goes on from the last")

    def _build(self, sight: Sight) -> None:
        """Lay out the home where another episode has begun; what was there before stays, as the robot does."""
        self._shown = sight.scene
        self._followed.clear()
        self._poses = np.full_like(sight.poses, np.nan)
        parts = named(parts_in(sight))
        bodies = {part.body for part in parts.values()} - {0}
        for gone in self._parts.keys() - parts.keys():
            self._parts.pop(gone)[1].remove()
        for gone in self._moving.keys() - bodies:
            self._moving.pop(gone).remove()
        scene = self.server.scene
        for body in sorted(bodies - self._moving.keys()):
            self._moving[body] = scene.add_frame(f"/body_{body}", show_axes=False)
        for name, part in parts.items():
            if name in self._parts and self._parts[name][0] == part.key:
                continue
            mesh = scene.add_mesh_simple(
                name,
                part.vertices.astype(np.float32),
                part.faces.astype(np.uint32),
                color=part.colour,
                flat_shading=True,
                opacity=WALL_OPACITY if part.is_wall else None,
            )  # takes the place of what had that name
            self._parts[name] = part.key, mesh
        for goal in self._goals:
            goal.remove()
        self._goals = [
            scene.add_icosphere(f"/goal_{index}", 0.07, GOAL, position=goal, opacity=0.6)
            for index, goal in enumerate(sight.goals)
        ]

    def _pose(self, sight: Sight) -> None:
        with self.server.atomic():
            # viser takes longer to see that a pose is the same as all else here
            moved = (sight.poses != self._poses).any(axis=1)
            for body, frame in self._moving.items():
                if not moved[body]:
                    continue
                frame.position, frame.wxyz = sight.poses[body, :3], sight.poses[body, 3:]
        self._poses = sight.poses
        base = np.array([*sight.base[:2], 0.0])
        if self.controls.follows:
            for number, client in self.server.get_clients().items():
                with client.atomic():
                    follow(client.camera, base, self._followed.get(number))
                self._followed[number] = base
        else:
            self._followed.clear()

    def _tell(self, sight: Sight, *told: str) -> None:
        if sight.picture is not None:
            self._picture.image = enlarged(sight.picture)
        home = sight.home.removeprefix("layout").replace("_variation", "/")  # of buildings
        lines = [
            f"**{sight.task.replace('_', ' ')}**, home {home}, {self.controls.told}",
            f"step {sight.step:,} of {sight.max_steps:,}",
            sight.told,
            self.tally,
        ]
        self._words.content = "\n\n".join(line for line in lines if line)
        for text, content in zip(self._told, (*told, ""), strict=False):
            text.show(content)
        rewards = {name: value for name, value in sight.rewards.items() if value}
        shown = bars(
            "action of this step, 1 being the largest", sight.action or {"none": 0.0}, 1.0, 2
        )
        shown += bars("reward of this step", rewards or {"none": 0.0}, LARGEST_REWARD, 4)
        self._numbers.content = shown


class _Text:
    """A folder with HTML, which is there as long as it says something."""

    def __init__(self, gui: Any, title: str) -> None:
        self._folder = gui.add_folder(title, visible=False)
        with self._folder:
            self._html = gui.add_html("")

    def show(self, content: str) -> None:
        self._folder.visible = bool(content)
        self._html.content = f'<div style="padding:0 12px">{content}</div>'


def _silence() -> AbstractContextManager[Any]:
    """Swallow what viser prints: the command says itself where the page is."""
    return redirect_stdout(StringIO())


def named(parts: Iterable[Part]) -> dict[str, Part]:
    """Parts by the names of their nodes: those of a body are numbered."""
    numbers: Counter[int] = Counter()
    found = {}
    for part in parts:
        parent = f"body_{part.body}" if part.body else "home"
        found[f"/{parent}/part_{numbers[part.body]}"] = part
        numbers[part.body] += 1
    return found


def enlarged(picture: np.ndarray) -> np.ndarray:
    """A small picture [H, W, 3] with its pixels repeated, so that it is at least PICTURE high."""
    times = -(-PICTURE // picture.shape[0])
    return picture.repeat(times, axis=0).repeat(times, axis=1)


def follow(camera: Any, base: np.ndarray, before: np.ndarray | None) -> None:
    """Keep the robot in the middle of a viewer's picture; from where it is seen is the viewer's own.

    Args:
        camera: Of a client of viser. It may be some updates late: what counts is only how its position lies
            to what it looks at, which following does not change.
        base: Where the robot is [3], m.
        before: Where it was when the camera was last moved; None: the camera is set behind it.
    """
    if before is not None and (base == before).all():
        return
    middle = base + (LOOKED_AT if camera.aspect > 1.0 else ABOVE_PANEL)
    position = base + CAMERA
    if before is not None:
        position = middle + np.array(camera.position) - np.array(camera.look_at)
    camera.position = position  # moves what is looked at, too
    camera.look_at = middle
