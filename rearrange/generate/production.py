"""Makes whole episode files, in as many processes as asked for; the file does not depend on how many.

Not imported by `rearrange.episodes`, since tasks and simulators import that.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rearrange.episodes.dataset import EpisodeSet, dump, write_file
from rearrange.episodes.episode import Episode
from rearrange.episodes.fields import FieldChecker
from rearrange.episodes.schema import (
    ApartmentRecord,
    decode_episode,
    encode_episode,
    record_of,
)
from rearrange.navigation import load_layout
from rearrange.robot import DEFAULT_ROBOT, RobotSpec, find_robot, name_of_robot
from rearrange.scenes.registry import CLASSIC, DEFAULT_HOMES, spec_of_homes
from rearrange.sim.mujoco import MujocoSimulator, SimulatorConfig
from rearrange.tasks import make_task
from rearrange.tasks.fitness import draw
from rearrange.tasks.sampling import source_of

CHUNK = 10  # episodes per message
MOST_ATTEMPTS = 1000  # samples per episode


@dataclass(frozen=True)
class Order:
    """What is to be made.

    Attributes:
        task: Task.
        split: "train", "val" or "test".
        episodes: How many.
        seed: A longer file of the same seed begins with the episodes of a shorter one.
        homes: Collection of homes.
        robot: Name of the robot.
    """

    task: str
    split: str = "val"
    episodes: int = 1000
    seed: int = 0
    homes: str = DEFAULT_HOMES
    robot: str = DEFAULT_ROBOT

    @property
    def command(self) -> str:
        """The command line that makes this file again."""
        robot = "" if self.robot == DEFAULT_ROBOT else f" --robot {self.robot}"
        return (
            f"python -m rearrange.episodes generate {self.task} --homes {self.homes} "
            f"--split {self.split} --episodes {self.episodes} --seed {self.seed}{robot}"
        )


@dataclass
class Batch:
    """Some made episodes.

    Attributes:
        lines: Place in the file -> the episode as JSON.
        apartments: Where they take place.
        rejected: Reason -> number of samples rejected on the way.
    """

    lines: dict[int, str] = field(default_factory=dict)
    apartments: dict[tuple[int, int], ApartmentRecord] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)

    def add(self, other: Batch) -> None:
        """Take over what another batch holds."""
        self.lines |= other.lines
        self.apartments |= other.apartments
        self.rejected += other.rejected


class EpisodeFactory:
    """Makes the episodes of one order as files hold them; owns one world."""

    def __init__(self, order: Order) -> None:
        """Build task and simulator; UserError for an unknown task, split, robot or collection of homes."""
        self.split, self.seed = order.split, order.seed
        self._apartments = source_of(order.split, order.homes)
        self._robot, scene = find_robot(order.robot), spec_of_homes(order.homes)
        self._task = make_task(order.task, robot=self._robot, scene=scene)
        source = order.split if order.homes == CLASSIC else self._apartments  # as in shipped files
        self._key = zlib.crc32(f"{order.task}/{source}".encode())
        config = SimulatorConfig(robot=order.robot, camera_size=8)
        self._simulator = MujocoSimulator(1, config, scene)

    def make(self, index: int) -> tuple[Episode, Counter[str]]:
        """Episode number `index` of the file, and why samples before it were rejected.

        Depends on task, homes, split, seed and index alone: not on who makes which episodes.

        Raises:
            RuntimeError: No sample was fit.
        """
        rng = np.random.default_rng([self.seed, self._key, index])
        rejected: Counter[str] = Counter()

        def sample() -> Episode:
            sampled = self._task.sample_episode(self._apartments, rng)
            named = replace(sampled, episode_id=f"{self.split}/{index}")
            return _rounded(named, self.split, self._robot)

        episode = draw(sample, self._simulator, 0, MOST_ATTEMPTS, rejected)
        if episode is None:
            reasons = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common())
            raise RuntimeError(
                f"{self._task.name}: none of {MOST_ATTEMPTS} samples was fit for episode {index}: "
                f"{reasons}"
            )
        return episode, rejected


def apartment_record(layout: int, variation: int) -> ApartmentRecord:
    """What a file remembers of an apartment."""
    return record_of(load_layout(layout, variation)[0])


def _rounded(episode: Episode, split: str, robot: RobotSpec) -> Episode:
    """The episode as it comes back from a file; this also checks every field."""
    key = episode.layout, episode.variation
    sizes = {key: apartment_record(*key).size}
    return decode_episode(encode_episode(episode), FieldChecker("generated"), split, sizes, robot)


def produce(order: Order, workers: int) -> Iterator[Batch]:
    """Make all episodes; batches come as they are done, not in order.

    Args:
        order: What to make.
        workers: Processes; 1 makes them in this one.

    Raises:
        UserError: Unknown task, split or collection of homes.
        RuntimeError: Samples of the task are never fit, or a worker died.
    """
    factory = EpisodeFactory(order)  # complains before processes start
    chunks = [
        range(start, min(start + CHUNK, order.episodes))
        for start in range(0, order.episodes, CHUNK)
    ]
    if workers == 1:
        yield from (_make(factory, chunk) for chunk in chunks)
        return
    # spawn: forking a process that has run threads (numba, MuJoCo) can hang the child.
    context = multiprocessing.get_context("spawn")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    stop = context.Event()
    pool = ProcessPoolExecutor(min(workers, len(chunks)), context, _start_worker, (order, stop))
    waiting = iter(chunks)
    try:
        running = {pool.submit(_make_in_worker, chunk) for chunk in islice(waiting, 2 * workers)}
        while running:
            done: set[Future[Batch]]
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(_make_in_worker, chunk) for chunk in islice(waiting, len(done))}
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise RuntimeError("a worker process died; its message stands above") from error
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def write(order: Order, made: Batch, path: Path) -> None:
    """Write the file that holds what was made; RuntimeError where something is missing."""
    if len(made.lines) != order.episodes:
        raise RuntimeError(f"only {len(made.lines)} of {order.episodes} episodes were made")
    header = EpisodeSet(
        order.task, order.split, order.seed, order.command, made.apartments, (),
        robot=name_of_robot(order.robot),
    )  # fmt: skip
    write_file(path, header, [made.lines[index] for index in sorted(made.lines)])


def _make(factory: EpisodeFactory, chunk: range, stop: Any = None) -> Batch:
    """Make these episodes; fewer once `stop` is set."""
    batch = Batch()
    for index in chunk:
        if stop is not None and stop.is_set():
            break
        episode, rejected = factory.make(index)
        key = episode.layout, episode.variation
        batch.lines[index] = dump(encode_episode(episode))
        batch.apartments[key] = apartment_record(*key)
        batch.rejected += rejected
    return batch


_order: Order | None = None  # of this worker process
_stop: Any = None
_factory: EpisodeFactory | None = None


def _start_worker(order: Order, stop: Any) -> None:
    """Ctrl-C reaches every process of a terminal: only the first one answers, and sets `stop`."""
    global _order, _stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _order, _stop = order, stop


def _make_in_worker(chunk: range) -> Batch:
    # The factory is made here: what an initializer raises would not reach the parent as it is.
    global _factory
    assert _order is not None
    if _factory is None:
        _factory = EpisodeFactory(_order)
    return _make(_factory, chunk, _stop)
