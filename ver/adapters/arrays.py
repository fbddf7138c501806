"""Any Gymnasium environment as the learner takes it: made by (index, seed), and observed as a Dict of arrays.

Arrays are images [H, W, C] and vectors. Whatever an environment shows is brought to these:

- A space alone is called `observation`. Parts of nested ones are `outer/inner`; those of a Tuple `0`, `1`.
- Images with channels first, without channels, or stacked become [H, W, C]; those below 36 pixels vectors.
- Discrete and MultiDiscrete: 1 at the place of the choice, 0 elsewhere. MultiBinary and all else: one vector.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from ver.adapters.names import make_named
from ver.errors import UserError

OBSERVATION = "observation"  # the key of a space that is no Dict
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
LEAST_IMAGE = 36  # pixels of height and width, which the smallest encoder needs


@dataclass(frozen=True)
class AnyEnvironment:
    """Makes an environment for the learner; picklable if `make` is.

    Attributes:
        make: A name as for `ver.adapters.names`, or a function of (index, seed) or of nothing.
        arguments: For gymnasium.make, where there is a name.
    """

    make: str | Callable[..., gymnasium.Env]
    arguments: dict[str, Any] = field(default_factory=dict)

    def __call__(self, index: int, seed: int) -> gymnasium.Env:
        """Makes the environment with this index.

        Raises:
            UserError: The name is unknown, or what the environment shows cannot be brought to arrays.
        """
        if isinstance(self.make, str):
            return as_arrays(make_named(self.make, self.arguments))
        given = (index, seed) if _takes_two(self.make) else ()
        return as_arrays(self.make(*given))


def any_environment(make_env: Any) -> Any:
    """Returns what makes environments by (index, seed).

    Args:
        make_env: As for `AnyEnvironment`; what makes worlds that are stepped together stays as it is.
    """
    if hasattr(make_env, "make_vector") or isinstance(make_env, AnyEnvironment):
        return make_env
    if not (isinstance(make_env, str) or callable(make_env)):
        raise UserError(
            "make_env must be a name that gymnasium knows, or a function of (index, seed) or of nothing, "
            f"found {type(make_env).__name__}"
        )
    made: Any = make_env
    return AnyEnvironment(made)


def as_arrays(env: gymnasium.Env) -> gymnasium.Env:
    """Returns the environment with observations as a Dict of arrays; itself where they are."""
    space = env.observation_space
    parts = array_parts(space)
    same = isinstance(space, spaces.Dict) and all(
        space.spaces.get(part.key) == part.space for part in parts
    )
    return env if same else ArrayObservations(env, parts)


@dataclass(frozen=True)
class Part:
    """A part of an observation, as an array.

    Attributes:
        key: What the array is called.
        path: Where the part is found in the observation.
        space: Of the array.
        convert: Makes it of the part.
    """

    key: str
    path: tuple[Any, ...]
    space: spaces.Box
    convert: Callable[[Any], np.ndarray]


class ArrayObservations(gymnasium.ObservationWrapper):
    """An environment whose observations are brought to a Dict of arrays."""

    def __init__(self, env: gymnasium.Env, parts: list[Part]) -> None:
        """Takes what `_parts` found in its space."""
        super().__init__(env)
        self._parts = parts
        # As pairs, which keep their order
        self.observation_space = spaces.Dict([(part.key, part.space) for part in parts])

    def observation(self, observation: Any) -> dict[str, np.ndarray]:
        """Returns the parts as arrays."""
        return shown_parts(self._parts, observation)


def array_parts(space: spaces.Space) -> list[Part]:
    """Finds the arrays that observations of a space are brought to."""
    return list(_parts(space, ""))


def shown_parts(parts: list[Part], observation: Any) -> dict[str, np.ndarray]:
    """Returns the parts of an observation as arrays."""
    shown = {}
    for part in parts:
        value = observation
        for name in part.path:
            value = value[name]
        shown[part.key] = part.convert(value)
    return shown


def _takes_two(make: Callable[..., Any]) -> bool:
    """Tells whether a function takes (index, seed); UserError if it takes neither that nor nothing.

    Where both can be, as of a class whose arguments have defaults, the second one's name decides.
    """
    signature = inspect.signature(make)
    two, none = (_binds(signature, *arguments) for arguments in ((0, 0), ()))
    if not (two or none):
        raise UserError(f"make_env must take (index, seed), or nothing; it takes {signature}")
    places = [each for each in signature.parameters.values() if each.kind in _BY_PLACE]
    return two and not (none and len(places) > 1 and "seed" not in places[1].name)


def _binds(signature: inspect.Signature, *arguments: int) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def _parts(space: spaces.Space, key: str, path: tuple[Any, ...] = ()) -> Iterator[Part]:
    """Finds all parts of a space that are no containers themselves."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        inner = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        for name, part in inner:
            yield from _parts(part, f"{key}/{name}" if key else str(name), (*path, name))
        return
    shape, dtype, convert, low, high = _array_of(space, key or OBSERVATION)
    box = spaces.Box(low, high, shape, dtype)
    yield Part(key or OBSERVATION, path, box, convert)


def _array_of(space: spaces.Space, key: str) -> tuple[Any, ...]:
    """Returns shape, dtype, conversion and bounds of the array that stands for a space."""
    if isinstance(space, spaces.Box):
        return _array_of_box(space)
    if isinstance(space, spaces.MultiBinary):
        return (int(np.prod(space.shape)),), np.float32, _flat, 0.0, 1.0
    if isinstance(space, spaces.Discrete):
        counts, starts = np.array([space.n]), np.array([space.start])
    elif isinstance(space, spaces.MultiDiscrete):
        counts, starts = np.ravel(space.nvec), np.ravel(space.start)
    else:
        raise UserError(
            f"observation '{key}' is a {type(space).__name__}, which is no array: use Box, Discrete, "
            "MultiDiscrete, MultiBinary, or a Dict or Tuple of these"
        )
    first = np.cumsum(counts) - counts - starts  # column of choice 0 of each
    size = int(counts.sum())

    def one_hot(value: Any) -> np.ndarray:
        columns = np.zeros(size, np.float32)
        columns[first + np.ravel(value)] = 1.0
        return columns

    return (size,), np.float32, one_hot, 0.0, 1.0


def _array_of_box(space: spaces.Box) -> tuple[Any, ...]:
    """Returns the same of a Box: an image if it is large enough, else a vector."""
    shape, axes = space.shape, _image_axes(space.shape)
    if axes is not None:

        def convert(value: Any) -> np.ndarray:
            image = np.transpose(np.reshape(value, _with_channels(shape)), axes)
            return image.reshape(*image.shape[:2], -1)

    elif len(shape) == 1:
        convert = _as_it_is
    else:
        convert = _flat
    low, high = convert(space.low), convert(space.high)
    return low.shape, low.dtype.type, convert, low, high


def _with_channels(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape, 1) if len(shape) == 2 else shape


def _image_axes(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Returns the order of axes that brings an image to [H, W, ...]; None for what is no image."""
    if len(shape) not in (2, 3, 4):
        return None
    sizes = _with_channels(shape)
    # The two neighbours that are large; a stack of frames is [K, H, W, C] or [H, W, C, K]
    for first in (0, 1, 2):
        pair = sizes[first : first + 2]
        rest = sizes[:first] + sizes[first + 2 :]
        if len(pair) == 2 and min(pair) >= LEAST_IMAGE and all(n < min(pair) for n in rest):
            others = [axis for axis in range(len(sizes)) if axis not in (first, first + 1)]
            return (first, first + 1, *others)
    return None


def _as_it_is(value: Any) -> np.ndarray:
    return np.asarray(value)


def _flat(value: Any) -> np.ndarray:
    return np.asarray(value, np.float32).reshape(-1)
