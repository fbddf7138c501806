"""Films of PointNav and ObjectNav: what the agent sees, and a map with its way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from nav.env import NavEnv
from nav.picture import SIZE, NavPicture
from planner.panels import BACKGROUND, DONE, FAILED, FAINT, TEXT
from planner.takes import NAVIGATION, TOLD_EVERY, Take, Tell
from rearrange.render import VideoWriter
from rearrange.render.sheet import font
from skills.eval import SEED_STRIDE
from skills.modes import who_plays
from skills.nav_players import nav_player
from skills.sight import AgentEye

FPS = 10  # steps per second: the agent has no clock
LAST_FRAMES = 20  # how long the result stands still
CAPTION = 40  # pixels, below the pictures


class NavPlayer:
    """Episodes of a navigation task; a policy takes mean actions, as in plans."""

    def __init__(
        self, task: str, words: str, seed: int, homes: str, checkpoint: Path | None = None
    ) -> None:
        """Take who plays.

        Args:
            task: One of NAVIGATION.
            words: As `skills.modes.parse_modes` reads them; exceptions are other skills'.
            seed: Of the episodes, as skills.eval numbers them.
            homes: Collection of buildings.
            checkpoint: Policy that plays, instead of who the words say.

        Raises:
            UserError: There is no such policy, or whoever it is cannot play the task.
        """
        who = who_plays(task, words)
        self._task, self._seed = task, seed
        self._who = "policy" if checkpoint or who in ("mixed", "learned") else who
        self._player = nav_player(task, self._who, "val", homes, checkpoint)

    def play(self, index: int, path: Path | None, tell: Tell) -> Take:
        """See planner.takes.Player."""
        env: NavEnv = self._player.environment
        seed = self._seed * SEED_STRIDE + index
        steps = 0

        def count(world: NavEnv) -> None:
            nonlocal steps
            del world
            steps += 1
            if steps % TOLD_EVERY == 0:
                tell(f"step {steps}")

        if path is None:
            return take_of(self._player.play(seed, None, count))
        with VideoWriter(path, FPS, quality=26) as writer:
            film: NavFilm | None = None

            def observe(world: NavEnv) -> None:
                nonlocal film
                count(world)
                film = film or NavFilm(env, self._task, self._who)  # an episode has begun
                writer.write(film.frame())

            metrics = self._player.play(seed, None, observe)
            assert film is not None
            for _ in range(LAST_FRAMES):
                writer.write(film.frame(metrics))
        return take_of(metrics)


def take_of(metrics: Mapping[str, float]) -> Take:
    """Outcome of an episode."""
    told = f"{metrics['length']:.0f} steps, SPL {metrics['spl']:.2f}"
    return Take(bool(metrics["success"]), told)


class NavFilm:
    """Draws an episode, frame after frame."""

    def __init__(self, env: NavEnv, task: str, who: str) -> None:
        """Begin with the running episode; `who` plays it."""
        self._eye, self._picture = AgentEye(env), NavPicture(env.worlds, 0, env.episode)
        self._title, self._who = NAVIGATION[task], who

    def frame(self, metrics: Mapping[str, float] | None = None) -> np.ndarray:
        """The next picture [400, W, 3] uint8: what is seen, the map, and a line below.

        Args:
            metrics: Of the episode, when it is over.
        """
        sight = self._eye.look(SIZE)
        assert sight.picture is not None
        pictures = np.hstack([sight.picture, self._picture.map()])
        height, width = pictures.shape[:2]
        page = Image.new("RGB", (width, height + CAPTION), BACKGROUND)
        page.paste(Image.fromarray(pictures), (0, 0))
        draw, row = ImageDraw.Draw(page), height + 10
        text, colour = f"{self._title}  {sight.told}", TEXT
        if metrics is not None:
            take = take_of(metrics)
            text = f"{'Success' if take.success else 'Failed'}: {take.told}"
            colour = DONE if take.success else FAILED
        draw.text((12, row), text, font=font(17), fill=colour)
        clock = f"{self._who}, step {sight.step}"
        draw.text((width - 12, row + 2), clock, font=font(14), fill=FAINT, anchor="ra")
        return np.asarray(page)
