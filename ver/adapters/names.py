"""Environments by their Gymnasium name, with the wrappers that some of them need to be learned from.

- Atari (ale-py): four frames at a step, 84 x 84 grey pixels, the last four of them stacked (Mnih et al. 2015);
  rewards are not clipped, as returns are normalised. Its memory (`-ram`), if that is asked for, as it is.
- VizDoom: four frames at a step, pixels averaged four by four.
- MiniGrid and BabyAI: what each cell holds, as ones and zeros; the mission's text is left out.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from ver.errors import UserError

FRAMES = 4  # of Atari and VizDoom for each action, and in Atari's stack


class Family(NamedTuple):
    """Environments of one library.

    Attributes:
        pattern: Of their names, up to the end.
        module: Whose import makes them known to gymnasium.
        install: Packages that it takes.
        arguments: For gymnasium.make, where the user gives none.
        wrap: Brings an environment to what can be learned from.
    """

    pattern: str
    module: str
    install: str
    arguments: dict[str, Any]
    wrap: Callable[[gymnasium.Env], gymnasium.Env]


def make_named(name: str, arguments: Mapping[str, Any] | None = None) -> gymnasium.Env:
    """Makes an environment.

    Args:
        name: That gymnasium, or a library in FAMILIES, knows.
        arguments: For gymnasium.make.

    Raises:
        UserError: It cannot be made; says what to install where something is missing.
    """
    family = next((each for each in FAMILIES if re.fullmatch(each.pattern, name)), None)
    given = dict(arguments or {})
    try:
        if family is None:
            return gymnasium.make(name, **given)
        importlib.import_module(family.module)
        return family.wrap(gymnasium.make(name, **(family.arguments | given)))
    except (ImportError, gymnasium.error.DependencyNotInstalled) as error:
        install = f"pip install {family.install}" if family else _install_of(str(error))
        raise UserError(f"{name}: {_one_line(error)}{install and f'; {install}'}") from error
    except Exception as error:
        if not given and not isinstance(error, gymnasium.error.Error):
            raise  # no argument of the user's
        told = ", ".join(f"{key}={value}" for key, value in given.items())
        asked = f"{name} with {told}" if told else name
        # Gymnasium adds who has made the environment, and by what
        reason = _one_line(error).split(" was raised from the environment creator")[0]
        raise UserError(f"{asked}: {reason or type(error).__name__}") from error


class CoarsePixels(gymnasium.ObservationWrapper):
    """Images in a Dict, averaged over squares; of others the middle of what no square divides is kept.

    Args:
        env: Shows a Dict with images [H, W, C].
        side: Of a square [pixels].
    """

    def __init__(self, env: gymnasium.Env, side: int = 4) -> None:
        """Takes the images among the observations."""
        super().__init__(env)
        assert isinstance(env.observation_space, spaces.Dict)
        self._side, parts = side, dict(env.observation_space.spaces)
        self._images = [key for key, part in parts.items() if len(part.shape or ()) == 3]
        for key in self._images:
            height, width, channels = parts[key].shape or (0, 0, 0)
            shape = (height // side, width // side, channels)
            parts[key] = spaces.Box(0, 255, shape, np.uint8)
        self.observation_space = spaces.Dict(list(parts.items()))

    def observation(self, observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the observations with coarse images."""
        coarse = {key: self._average(observation[key]) for key in self._images}
        return observation | coarse

    def _average(self, image: np.ndarray) -> np.ndarray:
        side = self._side
        height, width, channels = image.shape[0] // side, image.shape[1] // side, image.shape[2]
        cut = image[: height * side, : width * side]
        squares = cut.reshape(height, side, width, side, channels)
        return squares.mean((1, 3), dtype=np.float32).astype(np.uint8)


def _as_it_is(env: gymnasium.Env) -> gymnasium.Env:
    return env


def _wrap_atari(env: gymnasium.Env) -> gymnasium.Env:
    from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

    return FrameStackObservation(AtariPreprocessing(env, frame_skip=FRAMES), FRAMES)


def _wrap_minigrid(env: gymnasium.Env) -> gymnasium.Env:
    from minigrid.wrappers import (  # pyright: ignore[reportMissingImports]
        ImgObsWrapper,
        OneHotPartialObsWrapper,
    )

    return ImgObsWrapper(OneHotPartialObsWrapper(env))


FAMILIES = (
    Family(
        r"ALE/.+-ram-v\d+|.+-ramNoFrameskip-v\d+",
        "ale_py",
        "ale-py",
        {"frameskip": FRAMES},
        _as_it_is,
    ),
    Family(
        r"ALE/.+|.+NoFrameskip-v\d+",
        "ale_py",
        "ale-py opencv-python-headless",
        {"frameskip": 1},
        _wrap_atari,
    ),
    Family(r"(MiniGrid|BabyAI)-.+", "minigrid", "minigrid", {}, _wrap_minigrid),
    Family(
        r"Vizdoom.+",
        "vizdoom.gymnasium_wrapper",
        "vizdoom",
        {"frame_skip": FRAMES},
        CoarsePixels,
    ),
)
# What gymnasium says is missing -> how its own environments get it
_EXTRAS = {"mujoco": "mujoco", "glfw": "mujoco", "imageio": "mujoco", "box2d": "box2d"}


def _install_of(message: str) -> str:
    """The command that installs what gymnasium's own environments miss; none where the error says it."""
    found = [extra for part, extra in _EXTRAS.items() if part in message.lower()]
    return f'pip install "gymnasium[{found[0]}]"' if found and "pip install" not in message else ""


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
