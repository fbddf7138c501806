"""K scenes that N agents share, replaced one after another while they act (BPS: Shacklett et al. 2021, 3.2).

Steps of all agents decide which scenes these are, not the clock: so runs repeat. Each scene is loaded in the
background (`nav.background`). Where it is not there when its step comes, that step waits.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from nav.background import Background
from nav.buildings import load_building
from nav.episode import SceneMesh
from nav.episode_files import EpisodeSource, ScanEpisodes
from nav.scan import Scan, ScanKey, floor_shares
from nav.scene import Scene
from nav.table import find_task
from nav.worlds import AgentWorlds
from rearrange.errors import UserError
from rearrange.scenes.registry import DEFAULT_HOMES, check_homes
from rearrange.settings import MOST, check_ranges, setting

MOST_AGENTS = 32  # in a scene, as in BPS


@dataclass
class Sharing:
    """Numbers of the scenes that agents share."""

    scenes: int = setting(
        0, hab=None, high=65_536, about="that all agents share; 0: each episode has its own"
    )
    steps: int = setting(
        2000, hab=None, low=1, high=MOST, about="after which a shared scene is replaced"
    )

    def check(self, agents: int, there: int) -> None:
        """Raise a UserError that names the first number that does not go with some agents and scenes."""
        check_ranges(self, "sharing")
        least, most = -(-agents // MOST_AGENTS), min(agents, there)
        if least > most:
            raise UserError(
                f"sharing.scenes: {agents} agents need {least} scenes or more, as at most {MOST_AGENTS} share "
                f"one, and there are {there}: take fewer agents"
            )
        if not least <= self.scenes <= most:
            raise UserError(
                f"sharing.scenes must be from {least} to {most} for {agents} agents and {there} scenes, found "
                f"{self.scenes}"
            )
        if self.steps < self.scenes:
            raise UserError(
                f"sharing.steps must be at least sharing.scenes={self.scenes}, found {self.steps}"
            )


@dataclass(frozen=True)
class Loader:
    """Loads a scene, as the process in the background does it; picklable.

    Attributes:
        task: Whose episodes begin there.
        config: The task's.
        agent: Who acts there.
        files: Scenes are files, not buildings.
        homes: Collection of the buildings, or the YAML file of a home, which another process does not know.
    """

    task: str
    config: Any
    agent: Any
    files: bool
    homes: str = DEFAULT_HOMES

    def __call__(self, name: str) -> Scene | Scan:
        """A scene, with all that would take long when an episode begins there."""
        prepare = partial(find_task(self.task).prepare, config=self.config, agent=self.agent)
        if not self.files:
            check_homes(self.homes)
            scene = Scene(load_building(name), self.agent.radius)
            scene.fields = {}
            prepare(scene)
            return scene
        scan = Scan(ScanKey.of(SceneMesh(name), self.agent))
        for floor, share in zip(scan.floors, floor_shares(scan), strict=True):
            if share > 0.0:
                prepare(floor)
                # These look-ups make what all others look up in
                scan.on_floor(tuple(floor.places[0].tolist()))
                floor.near(floor.places[:1])
        return scan


class SharedScenes:
    """The scenes of N agents; agent i is in number i modulo K of those that are there.

    All scenes come in an order that a seed decides, again and again. Every `steps / K` steps the oldest one is
    replaced. Episodes that run there go on, and it is forgotten with the last one.

    Attributes:
        clock: Steps of all agents so far; None before the first episode.
        replaced: How many scenes were.
        waits: Steps that waited for a scene.
        waited_s: How long, all together.
    """

    def __init__(self, names: Sequence[str], sharing: Sharing, load: Any) -> None:
        """Load nothing yet.

        Args:
            names: Of all scenes, each once.
            sharing: How many are there, and how long.
            load: Makes one of its name; picklable.
        """
        self._names, self._load = list(names), load
        self._count, self._steps = sharing.scenes, sharing.steps
        self._order = np.arange(len(names))
        self._held: dict[str, Any] = {}
        self._background = Background()
        self._asked = ""  # name of the scene that is being loaded
        self._newest = 0
        self.clock: int | None = None
        self.replaced, self.waits, self.waited_s = 0, 0, 0.0

    @property
    def pid(self) -> int | None:
        """Of the process that loads; None where none runs."""
        return self._background.pid

    def _name(self, number: int) -> str:
        """Scene of a number; they are counted in the order in which they come."""
        return self._names[int(self._order[number % len(self._order)])]

    def _due(self, number: int) -> int:
        """Step after which a scene takes the place of the one K before it; 0 for the first K."""
        round_, place = divmod(number, self._count)
        return round_ * self._steps - (self._count - 1 - place) * self._steps // self._count

    def _present(self) -> list[str]:
        return [self._name(self._newest - k) for k in range(self._count)]

    def restart(self, seed: int, clock: int = 0) -> None:
        """Begin the order of a seed, or go on in it where so many steps were taken."""
        if self.clock is None:
            # A new scene has Python look for garbage, in all that a process has imported: for 0.1 s and more
            gc.collect()
            gc.freeze()
        self._order = np.random.default_rng(abs(seed)).permutation(len(self._names))
        self.clock, self._newest = clock, self._count - 1
        while self._due(self._newest + 1) <= clock:
            self._newest += 1
        wanted = self._present()
        self._held = {name: scene for name, scene in self._held.items() if name in wanted}
        # What is being loaded first, if it is of use
        for name in sorted(wanted, key=lambda name: name != self._asked):
            if name not in self._held:
                self._held[name] = self._take(name)
        self._look_ahead()

    def tick(self) -> None:
        """Count a step of all agents, and replace the scene whose time is over."""
        assert self.clock is not None
        self.clock += 1
        while self._due(self._newest + 1) <= self.clock:
            oldest, name = self._name(self._newest + 1 - self._count), self._name(self._newest + 1)
            if name not in self._held:  # else all scenes are there
                self._held[name] = self._in_time(name)
                self.replaced += 1
            self._newest += 1
            if oldest not in self._present():
                del self._held[oldest]
            self._look_ahead()

    def of(self, i: int) -> Any:
        """The scene in which the next episode of agent i begins."""
        return self._held[self._name(self._newest - (self._newest - i) % self._count)]

    def find(self, name: str) -> Any:
        """The scene of that name; only those that are there."""
        return self._held[name]

    def _look_ahead(self) -> None:
        """Begin to load what comes next."""
        name = self._name(self._newest + 1)
        if not self._asked and name not in self._held:
            self._ask(name)

    def _ask(self, name: str) -> None:
        self._background.ask(self._load, name)
        self._asked = name

    def _take(self, name: str) -> Any:
        """A scene that is asked for already, or is now."""
        if self._asked and self._asked != name:  # a restart has no use for it
            self._background.close()
            self._asked = ""
        if not self._asked:
            self._ask(name)
        try:
            scene = self._background.answer()
        except Exception:  # after Ctrl-C it is still to come
            self._asked = ""
            raise
        self._asked = ""
        return scene

    def _in_time(self, name: str) -> Any:
        """A scene whose step has come; a wait is counted and told."""
        late, begin = not self._background.ready, time.perf_counter()
        scene = self._take(name)
        if late:
            self.waits += 1
            self.waited_s += time.perf_counter() - begin
            if self.waits & (self.waits - 1) == 0:  # the first, second, fourth, eighth, ...
                print(
                    f"{self.waits} of {self.replaced + 1} scenes came late, steps waited "
                    f"{self.waited_s:.1f} s for them so far: raise sharing.steps={self._steps}",
                    file=sys.stderr,
                    flush=True,
                )
        return scene

    def close(self) -> None:
        """End the process that loads; safe to call twice."""
        self._background.close()
        self._asked = ""


def names_of(buildings: Sequence[str], files: EpisodeSource | None) -> Sequence[str]:
    """Names of all scenes that there are to share; UserError where a source's cannot be shared."""
    if files is None:
        return buildings
    if not isinstance(files, ScanEpisodes) or not files.sampled:
        raise UserError(
            "sharing.scenes is for our buildings and for sampled episodes in scans: leave it out, or take "
            "sim=scan without a dataset"
        )
    return files.files


def share_scenes(
    sharing: Sharing,
    task: str,
    config: Any,
    worlds: AgentWorlds,
    names: Sequence[str],
    homes: str,
    files: EpisodeSource | None,
) -> SharedScenes:
    """The scenes that some agents share from now on.

    Args:
        sharing: How many, and how long.
        task: What the agents do.
        config: The task's.
        worlds: The agents.
        names: Of our buildings.
        homes: Collection that they are of.
        files: Source of episodes elsewhere, whose scenes take their place.

    Raises:
        UserError: The numbers do not go together, or scenes of that source cannot be shared.
    """
    names = names_of(names, files)
    sharing.check(len(worlds.poses), len(names))
    load = Loader(task, config, worlds.config, files is not None, homes)
    shared = SharedScenes(names, sharing, load)
    worlds.load = shared.find if files is None else lambda key: shared.find(key.file)
    return shared
