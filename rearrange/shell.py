"""The shell of the Gymnasium environments: seeds, episodes, infos and pictures. `vector_shell` has many worlds.

`TaskWorlds` is its other side: robots on a simulator, or agents of `nav`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, ClassVar, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding

from rearrange.entry_points import load
from rearrange.errors import UserError

Observation = dict[str, np.ndarray]
Step = tuple[np.ndarray, np.ndarray, np.ndarray]  # rewards, terminated, truncated [N], fresh arrays
Painter = Callable[[], np.ndarray]  # draws a running episode [H, W, 3] uint8, picture after picture

PICTURE, HUMAN = "rgb_array", "human"  # render modes
VIEWERS = "rearrange.viewers"  # entry points of packages; each names a class of viewers


class TaskWorlds(Protocol):
    """N worlds of one task.

    Attributes:
        observation_space: Of one world.
        action_space: Likewise.
        repeat: Steps that an action lasts.
    """

    observation_space: spaces.Dict
    action_space: Any
    repeat: int

    @property
    def episodes(self) -> Sequence[Any]:
        """Running episodes [N]; None where none has begun."""
        ...

    def reset(
        self, i: int, rng: np.random.Generator, seed: int | None = None, number: int | None = None
    ) -> None:
        """Put world i into an episode that is sampled.

        Args:
            i: World.
            rng: What is random in the episode.
            seed: Of the world, where it is known.
            number: Of the episode among those of the world, where it is known.
        """
        ...

    def put(self, i: int, episode: Any) -> None:
        """Put world i into an episode that a caller made; UserError where it cannot be begun."""
        ...

    def take(self, action: Any, shape: tuple[int, ...]) -> None:
        """Take the next action; ValueError where a caller gave no action of that shape."""
        ...

    def step(self) -> Step:
        """Advance all worlds by what was taken."""
        ...

    def observe(self) -> Observation:
        """Observations [N, ...]; fresh arrays."""
        ...

    @property
    def remembers(self) -> bool:
        """True if what is seen depends on what was seen before."""
        ...

    def observe_again(self, observation: Observation, ids: np.ndarray) -> Observation:
        """The observations, which may be written into, where some worlds have begun anew."""
        ...

    def metrics(self, i: int) -> dict[str, float]:
        """Metrics of an episode that has ended, all numbers."""
        ...

    def painter(self, i: int) -> Painter:
        """Make what draws the running episode of world i."""
        ...

    def close(self) -> None:
        """Free what is held; safe to call twice."""
        ...


class Viewer(Protocol):
    """Shows a person the world of an environment; made with it alone."""

    def show(self) -> None:
        """Show the world as it is now, and wait until its next step is due."""
        ...

    def close(self) -> None:
        """End it."""
        ...


def find_viewer() -> Callable[[Any], Viewer]:
    """The first viewer by name among those of all packages.

    Raises:
        UserError: There is none, or it cannot be loaded.
    """
    points = sorted(entry_points(group=VIEWERS), key=lambda point: point.name)
    if not points:
        raise UserError(
            f"render_mode={HUMAN}: no package with a viewer is installed: run scripts/setup.sh again, "
            f"or take {PICTURE}"
        )
    return load(points[0], "viewer", type)


def check_render_mode(mode: Any, known: Sequence[str]) -> None:
    """Raise a UserError for a render mode that is not known; None always is."""
    if mode is not None and mode not in known:
        raise UserError(f"render_mode must be {', '.join(known)} or None, found {mode!r}")


def of_actions(metadata: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    """An environment's metadata where an action, and so a picture, lasts some steps of the world."""
    rate, rest = divmod(metadata["render_fps"], repeat)
    return {**metadata, "render_fps": metadata["render_fps"] / repeat if rest else rate}


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number from 0."""
    return isinstance(value, int | np.integer) and bool(value >= 0)


def check_option_names(options: Iterable[Any], known: Sequence[str]) -> None:
    """Raise a UserError for the first option of `reset` that is not known."""
    for name in options:
        if name not in known:
            there = f"choose {' or '.join(known)}" if known else "there is none here"
            raise UserError(f"unknown option '{name}' of reset: {there}")


class TaskEnv(gymnasium.Env[Observation, Any]):
    """One world.

    `info["metrics"]` of the last step sums up the episode, `info["is_success"]` tells whether it was a success.

    Attributes:
        after_step: Called after every step of the world, also within a repeated action.
        reward: Of the last step of the world.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [PICTURE, HUMAN], "render_fps": 30}

    def __init__(self, worlds: TaskWorlds, seed: int | None, render_mode: str | None) -> None:
        """Take a world; attributes of a viewer's interest are there already.

        Args:
            worlds: One.
            seed: Seeds episodes until `reset(seed=...)` does.
            render_mode: "rgb_array": `render` draws; "human": every step is shown; or None.

        Raises:
            UserError: Unknown render mode, or no viewer.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._painter: Painter | None = None  # of the running episode
        self._over = False  # the episode has ended
        self._worlds = worlds
        self.metadata = of_actions(self.metadata, worlds.repeat)  # pyright: ignore[reportAttributeAccessIssue]
        # Gymnasium types a Dict space by its sub-spaces, not by what they hold.
        self.observation_space = worlds.observation_space  # pyright: ignore[reportAttributeAccessIssue]
        self.action_space = worlds.action_space
        self._shape = tuple(worlds.action_space.shape or ())
        self.after_step: Callable[[Any], None] | None = None
        self.reward = 0.0
        self._seed = seed
        if seed is not None:
            self._np_random, self._np_random_seed = seeding.np_random(seed)
        self._viewer = find_viewer()(self) if render_mode == HUMAN else None

    @property
    def episode(self) -> Any:
        """The running episode."""
        return self._running("using the environment")

    def _running(self, purpose: str) -> Any:
        """The running episode; ResetNeeded where there is none."""
        episode = self._worlds.episodes[0]
        if episode is None:
            raise ResetNeeded(f"call reset() before {purpose}")
        return episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode: `options={"episode": ...}` takes that one, else one is sampled.

        With `options={"episode_number": n}`, as a trainer's workers tell it, an environment that was made with
        a seed stays in a generated apartment for some episodes; see rearrange.worlds.Worlds.reset.

        Raises:
            UserError: The given episode cannot be begun, then the one before goes on; or an option is unknown
                or wrong.
        """
        options = options or {}
        check_option_names(options, ("episode", "episode_number"))
        number: Any = options.get("episode_number")
        if number is not None and not is_whole(number):
            raise UserError(
                f'options["episode_number"] must be a whole number from 0, found {number!r}'
            )
        super().reset(seed=seed)
        if options.get("episode") is not None:
            self._worlds.put(0, options["episode"])
        else:
            self._worlds.reset(0, self.np_random, self._seed, number)
        self._painter, self._over = None, False
        if self._viewer is not None:
            self._viewer.show()
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out an action, as long as it lasts or until the episode ends.

        Args:
            action: Of the action space.

        Returns:
            What Gymnasium asks for; the reward is the sum over the steps of the world.

        Raises:
            ResetNeeded: No episode has begun, or the last one is over.
        """
        if self._over:
            raise ResetNeeded("the episode is over: call reset() before step()")
        worlds = self._worlds
        worlds.take(action, self._shape)
        total, terminated, truncated, info = 0.0, False, False, {}
        for _ in range(worlds.repeat):
            reward, terminated, truncated, info = self._advance(worlds.step)
            total += reward
            if terminated or truncated:
                break
        return self.observe(), total, terminated, truncated, info

    def _advance(self, step: Callable[[], Step]) -> tuple[float, bool, bool, dict[str, Any]]:
        """Take one step of the world; past the episode's end, too, which a plan need not mind."""
        if self._worlds.episodes[0] is None:  # looked at here, too: a call in every step costs
            self._running("step()")
        rewards, terminations, truncations = step()
        reward = self.reward = float(rewards[0])
        terminated, truncated = bool(terminations[0]), bool(truncations[0])
        info: dict[str, Any] = {}
        if terminated or truncated:
            self._over = True
            info["metrics"] = self._worlds.metrics(0)
            info["is_success"] = is_success(info["metrics"])
        if self.after_step is not None:
            self.after_step(self)
        if self._viewer is not None:
            self._viewer.show()
        return reward, terminated, truncated, info

    def observe(self) -> Observation:
        """Observation of the present state."""
        return {key: value[0] for key, value in self._worlds.observe().items()}

    def render(self) -> np.ndarray | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Draw the world [H, W, 3] uint8; None unless `render_mode` is "rgb_array"."""
        if self.render_mode is None:
            return None
        self._running("render()")
        if self.render_mode == HUMAN:  # every step is shown without being asked for
            return None
        if self._painter is None:
            self._painter = self._worlds.painter(0)
        return self._painter()

    def close(self) -> None:
        """Free what the world holds, and end the viewer; safe to call twice."""
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None
        self._worlds.close()


def is_success(metrics: dict[str, float]) -> bool:
    """Return whether an episode was a success; False for tasks that know none."""
    return bool(metrics.get("success", False))
