"""The page: the home in 3D, what the head camera sees, and what is going on in words."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import viser

from live.geometry import parts_of
from live.pace import Pace
from rearrange.env import RearrangeEnv
from rearrange.render.overlay import colour_depth
from rearrange.sim.base import CONTROL_STEP, NOTHING
from rearrange.sim.mujoco import MujocoSimulator

POSES, PICTURES = 1 / 20, 1 / 8  # [s] between updates of bodies, and of picture and words
PICTURE = 128  # pixels of the camera's image
FARTHEST = 5.0  # [m] in its colours
WALL_OPACITY = 0.25
CAMERA = np.array([-1.6, -1.6, 2.4])  # from the robot when following it begins [m]
LOOKED_AT = np.array([0.0, 0.0, 0.6])  # likewise
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")
GOAL = (80, 220, 120)


class Page:
    """Shows one world at a time.

    Attributes:
        pace: When steps may follow.
        folder: Where agents may put what they are steered by.
    """

    def __init__(self, host: str, port: int, title: str) -> None:
        """Start the server; `port` may be taken, then it is the next."""
        self.server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
        self.server.scene.set_up_direction("+z")
        self.pace = Pace(CONTROL_STEP)
        gui = self.server.gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        self._words = gui.add_markdown(f"**{title}**")
        self._picture = gui.add_image(np.zeros((PICTURE, PICTURE, 3), np.uint8), label="depth")
        with gui.add_folder("Time"):
            self._buttons()
        self._terms = gui.add_markdown("")
        self.folder = gui.add_folder("Steering", visible=False)
        self._moving: dict[int, Any] = {}
        self._shown: tuple[Any, ...] = ()
        self._followed: dict[int, np.ndarray] = {}  # where the robot was, by client
        self._posed = self._pictured = 0.0

    @property
    def port(self) -> int:
        """Port on which the page is served."""
        return self.server.get_port()

    def show(self, world: RearrangeEnv, words: str = "") -> None:
        """Show the world as it is now, as often as eyes need it, and wait until the next step is due.

        Args:
            world: On the MuJoCo simulator.
            words: What is going on, in Markdown.

        Raises:
            NextEpisode: Somebody asked for another.
        """
        self._build(world)
        now = time.monotonic()
        if now - self._posed >= POSES or self.pace.paused:
            self._posed = now
            self._pose(world)
        if now - self._pictured >= PICTURES or self.pace.paused:
            self._pictured = now
            self._tell(world, words)
        self.pace.wait()

    def close(self) -> None:
        """End the server."""
        self.server.stop()

    def _buttons(self) -> None:
        gui, pace = self.server.gui, self.pace
        self._follow = gui.add_checkbox("follow the robot", True)
        pause = gui.add_checkbox("pause", False)
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
        step = gui.add_button("one step")
        following = gui.add_button("next episode")

        @pause.on_update
        def _(event: Any) -> None:
            pace.paused = bool(event.target.value)

        @speed.on_update
        def _(event: Any) -> None:
            pace.speed = float(event.target.value)

        @step.on_click
        def _(event: Any) -> None:
            pause.value = pace.paused = True
            pace.step_once()

        @following.on_click
        def _(event: Any) -> None:
            pace.leave()

    def _build(self, world: RearrangeEnv) -> None:
        """Lay out the home where another episode has begun."""
        episode = world.episode
        now = (id(world), episode.episode_id, episode.seed, episode.base_pose)
        if now == self._shown:
            return
        self._shown = now
        self._followed.clear()
        model, data = _physics(world)
        scene = self.server.scene
        scene.reset()
        scene.set_up_direction("+z")
        scene.add_light_ambient("/light", intensity=0.5)
        self._moving = {}
        parked = {
            _home(world).first_object_body + slot
            for slot in range(len(world.state.object_position[0]))
            if slot not in episode.objects
        }
        for number, part in enumerate(parts_of(model, data)):
            if part.body in parked:
                continue
            parent = f"/body_{part.body}"
            if part.body and part.body not in self._moving:
                self._moving[part.body] = scene.add_frame(parent, show_axes=False)
            scene.add_mesh_simple(
                f"{parent}/part_{number}" if part.body else f"/home/part_{number}",
                part.vertices.astype(np.float32),
                part.faces.astype(np.uint32),
                color=part.colour,
                flat_shading=True,
                opacity=WALL_OPACITY if part.is_wall else None,
            )
        for index, target in enumerate(episode.targets):
            scene.add_icosphere(f"/goal_{index}", 0.05, GOAL, position=target.goal, opacity=0.5)

    def _pose(self, world: RearrangeEnv) -> None:
        _, data = _physics(world)
        with self.server.atomic():
            for body, frame in self._moving.items():
                frame.position = data.xpos[body].copy()
                frame.wxyz = data.xquat[body].copy()
        base = np.array([*world.state.base_pose[0, :2], 0.0])
        if self._follow.value:
            for number, client in self.server.get_clients().items():
                follow(client.camera, base, self._followed.get(number))
                self._followed[number] = base
        else:
            self._followed.clear()

    def _tell(self, world: RearrangeEnv, words: str) -> None:
        depth = world.simulator.render_depth(PICTURE)[0]
        self._picture.image = colour_depth(depth, 0.0, FARTHEST)
        episode = world.episode
        held = int(world.state.held_object[0])
        self._words.content = "\n\n".join(
            [
                f"**{world.task.name.replace('_', ' ')}**, home "
                f"{episode.layout}/{episode.variation} {episode.episode_id}",
                f"step {world.elapsed_steps} of {world.task.max_steps}, "
                f"{'nothing' if held == NOTHING else f'object {held}'} in the hand, "
                f"force {world.state.contact_force[0]:.0f} N",
                words,
            ]
        )
        self._terms.content = table(world.task.outcome.rewards)


def follow(camera: Any, base: np.ndarray, before: np.ndarray | None) -> None:
    """Keep a viewer's camera with the robot; how it looks at it is the viewer's own.

    Args:
        camera: Of a client of viser.
        base: Where the robot is [3], m.
        before: Where it was when the camera was last moved; None: the camera is set behind it.
    """
    if before is None:
        camera.position = base + CAMERA
        camera.look_at = base + LOOKED_AT
    elif (base != before).any():
        position, looked_at = np.array(camera.position), np.array(camera.look_at)
        camera.position = position + base - before
        camera.look_at = looked_at + base - before


def table(rewards: Mapping[str, np.ndarray]) -> str:
    """Reward terms of the last step that are not zero, as Markdown."""
    rows = [f"| {name} | {value[0]:+.4f} |" for name, value in rewards.items() if value[0]]
    return "\n".join(["| reward | |", "|---|---|", *rows])


def _home(world: RearrangeEnv) -> Any:
    assert isinstance(world.simulator, MujocoSimulator)
    home = world.simulator.worlds[0]
    assert home is not None
    return home


def _physics(world: RearrangeEnv) -> tuple[mujoco.MjModel, mujoco.MjData]:
    assert isinstance(world.simulator, MujocoSimulator)
    data = world.simulator.data[0]
    assert data is not None
    return _home(world).model, data
