"""Keywords of `gymnasium.make` and `make_vec` besides the settings of task, simulator and agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rearrange.episodes import RecordedStarts
from rearrange.keywords import changed, names_of
from rearrange.rules import OURS
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.settings import check_ranges, setting
from rearrange.shipped import CPU
from rearrange.tasks.true_state import DEPTH


@dataclass(frozen=True)
class One:
    """Of one world.

    Attributes:
        split: "train", "val" or "test": which homes.
        homes: Which collection of them, or the YAML file of a home.
        preset: The machine it is meant for: cpu, or the name of a file in configs/presets/.
        render_mode: As the environment takes it.
        seed: Seeds episodes until `reset(seed=...)` does.
    """

    split: str = "train"
    homes: str = DEFAULT_HOMES
    preset: str = CPU
    render_mode: str | None = None
    seed: int | None = setting(None, hab=None, high=2**63, about="of the episodes")


@dataclass(frozen=True)
class Many:
    """Of worlds side by side; what it shares with One is the same."""

    split: str = "train"
    homes: str = DEFAULT_HOMES
    preset: str = CPU
    render_mode: str | None = None
    num_envs: int = setting(1, hab=None, low=1, high=65_536, about="worlds")
    threads: int = setting(0, hab=None, high=1024, about="that step them; 0: one for every core")


@dataclass(frozen=True)
class Robots:
    """Of worlds with a robot.

    Attributes:
        sensors: What is observed, see rearrange.tasks.true_state.
        rules: ours, or hab, see rearrange.rules.
        starts: Recorded start states that are mixed in.
    """

    sensors: str = DEPTH
    rules: str = OURS
    starts: RecordedStarts = field(default_factory=RecordedStarts)


@dataclass(frozen=True)
class OneRobot(Robots, One):
    """Of one world with a robot."""


@dataclass(frozen=True)
class ManyRobots(Robots, Many):
    """Of worlds with robots side by side."""


Own = TypeVar("Own", bound="One | Many")


def choose(
    what: str,
    choices: Own,
    parts_of: Callable[[Own], tuple[Any, Any]],
    keywords: Mapping[str, Any],
) -> tuple[Any, Any, Own]:
    """Read keywords.

    Args:
        what: They make, for errors.
        choices: The defaults of those that say where all others begin.
        parts_of: Gives, for the choices, two dataclasses with all others.
        keywords: Values, see rearrange.keywords.

    Returns:
        Both dataclasses and the choices.

    Raises:
        UserError: There is no such keyword, or its value is out of its range or of another type.
    """
    own = names_of(choices)
    chosen = {key: value for key, value in keywords.items() if key.partition(".")[0] in own}
    (choices,) = changed(what, [choices], chosen)
    check_ranges(choices, "")
    one, two, choices = changed(what, [*parts_of(choices), choices], keywords)
    return one, two, choices
