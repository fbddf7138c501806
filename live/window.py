"""The page as a viewer of Gymnasium's environments: `gymnasium.make(ID, render_mode="human")`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from live.pace import NextEpisode
from rearrange.errors import UserError
from skills.sight import eye_of

HOST, PORT = "127.0.0.1", 8080  # of the page, unless that port is taken


def open_page(host: str, port: int, title: str) -> Any:
    """A `live.page.Page`; UserError where viser is missing."""
    try:
        from live.page import Page
    except ImportError as error:
        if error.name not in ("viser", "trimesh"):
            raise
        raise UserError("the live page needs viser: pip install viser") from None
    return Page(host, port, title)


class Window:
    """Shows the world of an environment in the browser, at real speed; see rearrange.shell.Viewer."""

    def __init__(self, env: Any) -> None:
        """Serve the page, and say where.

        Raises:
            UserError: The environment's world cannot be seen, or viser is missing.
        """
        eye = eye_of(env)
        if eye is None:
            raise UserError(f"{type(env).__name__} cannot be seen in the browser")
        self._env, self._eye = env, eye
        self._page = open_page(HOST, PORT, env.task.name)
        self._page.controls.episodes.visible = False  # who steps says which
        self._page.pace.step_time = (
            1.0 / type(env).metadata["render_fps"]
        )  # an action may take several
        self._episodes = 0
        print(f"http://{HOST}:{self._page.port}   shows {env.task.name}", flush=True)

    def show(self) -> None:
        """Show the world as it is now, and wait until its next step is due."""
        if not self._env.elapsed_steps:
            self._page.controls.begin(self._episodes)
            self._episodes += 1
        with suppress(NextEpisode):
            self._page.show(self._eye.look)

    def close(self) -> None:
        """End the page."""
        self._page.close()
