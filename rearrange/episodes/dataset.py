"""Episode files: `data/episodes/<task>/<split>.json.gz`, read, checked and written.

A file says which apartments its poses belong to. Whether they are still the same is checked when
an episode of theirs is asked for, since furnishing an apartment takes half a second.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from atomic_files import write_whole
from rearrange.episodes.episode import Episode
from rearrange.episodes.fields import FieldChecker
from rearrange.episodes.schema import (
    ApartmentRecord,
    decode_apartment,
    decode_episode,
    encode_apartment,
    encode_episode,
    record_of,
)
from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.robot import DEFAULT_ROBOT, find_robot, name_of_robot
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.registry import (
    DEFAULT_HOMES,
    LAYOUTS_OF,
    LAYOUTS_OF_SPLIT,
    VARIATION_COUNT,
    check_homes,
    collection_of,
)
from rearrange.shipped import SHIPPED

VERSION = 1
DIRECTORY = SHIPPED / "data" / "episodes"
SAMPLED = "sampled"  # in place of a path: no file, every episode is sampled when it starts
FILE_FIELDS = ("version", "task", "split", "seed", "generator", "apartments", "episodes")
OPTIONAL_FILE_FIELDS = ("robot",)  # of a file whose robot is not the default one
LARGEST_FILE = 64 * 2**20  # bytes, packed; 10 000 episodes are about 5 MB
LARGEST_TEXT = 256 * 2**20  # bytes, unpacked; 10 000 episodes are about 18 MB
MOST_EPISODES = 200_000
GENERATOR_LENGTH = 4000  # characters: a command may name a policy file for each of seven skills


def default_path(
    task: str, split: str, homes: str = DEFAULT_HOMES, robot: str = DEFAULT_ROBOT
) -> Path:
    """Where the episodes of a task and split are shipped or generated."""
    folder = DIRECTORY / task if homes == DEFAULT_HOMES else DIRECTORY / task / check_homes(homes)
    return (
        folder if robot == DEFAULT_ROBOT else folder / name_of_robot(robot)
    ) / f"{split}.json.gz"


@dataclass(frozen=True)
class EpisodeSet:
    """The episodes of one file, in its order; read with `EpisodeSet.load`.

    Attributes:
        task: Task whose episodes they are.
        split: "train", "val" or "test".
        seed: Seed from which they were generated.
        generator: Command that made the file.
        apartments: (layout, variation) -> the apartment to which poses belong.
        episodes: What stands in the file. Take single ones with `episode`, which checks that their
            apartment is still the same.
        path: The file, or None.
        robot: Name of the robot that acts in them.
    """

    task: str
    split: str
    seed: int
    generator: str
    apartments: dict[tuple[int, int], ApartmentRecord]
    episodes: tuple[Episode, ...]
    path: Path | None = None
    robot: str = DEFAULT_ROBOT

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        task: str | None = None,
        split: str | None = None,
        homes: str | None = None,
        robot: str | None = None,
    ) -> EpisodeSet:
        """Read a file; cached per process as long as the file does not change.

        Args:
            path: The file.
            task: Task that it must be of, None for any.
            split: Split that it must be of, None for any.
            homes: Collection of homes that it must be of, None for any.
            robot: Name of the robot that must act in it, None for any.

        Raises:
            UserError: There is no such file, or something in it is wrong; the message names file,
                episode and field.
        """
        found = Path(path)
        try:
            status = found.stat()
        except OSError as error:
            raise UserError(
                f"{found}: {error.strerror or error}: {_mend(task, split, homes)}"
            ) from None
        homes, robot = homes and check_homes(homes), robot and name_of_robot(robot)
        loaded = _load(found, status.st_mtime_ns, status.st_size)
        for name, asked, there in (
            ("task", task, loaded.task),
            ("split", split, loaded.split),
            ("homes", homes, loaded.homes or homes),
            ("robot", robot, loaded.robot),
        ):
            if asked is not None and asked != there:
                raise UserError(f"{found}: {name}: expected '{asked}', found '{there}'")
        return loaded

    @classmethod
    def of(
        cls, task: str, split: str, seed: int, generator: str, episodes: Sequence[Episode],
        robot: str = DEFAULT_ROBOT,
    ) -> EpisodeSet:  # fmt: skip
        """Make a file's content of episodes in our homes; arguments as the attributes."""
        places = sorted({(episode.layout, episode.variation) for episode in episodes})
        apartments = {place: record_of(generate_apartment(*place)) for place in places}
        return cls(
            task, split, seed, generator, apartments, tuple(episodes), robot=name_of_robot(robot)
        )

    @cached_property
    def homes(self) -> str | None:
        """The collection of homes that its apartments are of; None where it has none."""
        found = {collection_of(layout) for layout, _ in self.apartments}
        return next((each[0] for each in found if each is not None), None)

    def __len__(self) -> int:
        return len(self.episodes)

    def __iter__(self) -> Iterator[Episode]:
        return (self.episode(index) for index in range(len(self)))

    def episode(self, index: int, seed: int = 0) -> Episode:
        """One episode.

        Args:
            index: Place in the order, from 0.
            seed: Order: 0 is that of the file, any other seed a permutation of it.

        Raises:
            IndexError: There are not that many.
            UserError: The apartment is no longer the one in which the episode was made.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"episode {index} of {len(self)} in {self.path or 'this set'}")
        chosen = self.episodes[index if seed == 0 else int(self.order(seed)[index])]
        self._check_apartment(chosen.layout, chosen.variation)
        return chosen

    def order(self, seed: int) -> np.ndarray:
        """Places in the file in the order of a seed [len]; seed 0 is the file's own."""
        if seed not in self._orders:
            generator = np.random.default_rng(abs(seed))
            count = len(self)
            self._orders[seed] = generator.permutation(count) if seed else np.arange(count)
        return self._orders[seed]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file; the same episodes give the same bytes."""
        lines = [dump(encode_episode(episode)) for episode in self.episodes]
        write_file(Path(path), self, lines)

    @cached_property
    def in_home(self) -> dict[tuple[int, int], list[int]]:
        """(layout, variation) -> places in the file of the episodes there."""
        found: dict[tuple[int, int], list[int]] = {}
        for place, episode in enumerate(self.episodes):
            found.setdefault((episode.layout, episode.variation), []).append(place)
        return found

    @cached_property
    def _orders(self) -> dict[int, np.ndarray]:
        return {}

    def _check_apartment(self, layout: int, variation: int) -> None:
        if (layout, variation) in self._checked:
            return
        there = record_of(load_layout(layout, variation)[0])
        if there.fingerprint != self.apartments[layout, variation].fingerprint:
            raise UserError(
                f"{self.path}: made for another apartment {layout}/{variation} than this version "
                f"generates: make it again with: {self.generator}"
            )
        self._checked.add((layout, variation))

    @cached_property
    def _checked(self) -> set[tuple[int, int]]:
        return set()


def find_dataset(
    choice: str | None,
    task: str,
    split: str,
    count: int,
    homes: str = DEFAULT_HOMES,
    robot: str = DEFAULT_ROBOT,
) -> tuple[EpisodeSet | None, str]:
    """The file from which an evaluation takes its episodes.

    Args:
        choice: A path; "sampled" for none; None for the default file where it holds enough episodes.
        task: Task that is evaluated.
        split: Split that is evaluated.
        count: How many episodes are needed.
        homes: Collection of homes in which it takes place.
        robot: Name of the robot that acts.

    Returns:
        The episodes, None where they shall be sampled, and a line that says which.

    Raises:
        UserError: The file that was asked for is missing, wrong or too small.
    """
    if choice == SAMPLED:
        return None, "episodes: sampled on the fly"
    path = default_path(task, split, homes, robot) if choice is None else Path(choice)
    if choice is None and not path.exists():
        return None, f"episodes: sampled on the fly, since there is no {shown(path)}"
    found = EpisodeSet.load(path, task, split, homes, robot)
    if len(found) >= count:
        return found, f"episodes: {shown(path)}, which holds {len(found)}"
    if choice is None:
        return None, f"episodes: sampled on the fly, since {shown(path)} holds only {len(found)}"
    raise UserError(
        f"{path} holds {len(found)} episodes, not {count}: ask for fewer, or make more with "
        f"python -m rearrange.episodes generate {task} --homes {homes} --split {split} "
        f"--episodes {count}"
    )


def shown(path: Path | None) -> str:
    """A file as it is told and recorded, relative to the repository if it lies there.

    None, which is no file, is "sampled".
    """
    if path is None:
        return SAMPLED
    root = DIRECTORY.parents[1]
    resolved = path.resolve()
    return str(resolved.relative_to(root)) if resolved.is_relative_to(root) else str(path)


def dump(value: Any) -> str:
    """JSON on one line without spaces."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def write_file(path: Path, header: EpisodeSet, lines: Iterable[str]) -> None:
    """Write a file atomically.

    Args:
        path: Where; folders are made.
        header: Everything but the episodes, which may be empty here.
        lines: Episodes as JSON, see `encode_episode` and `dump`.
    """
    first = {
        "version": VERSION,
        "task": header.task,
        "split": header.split,
        "seed": header.seed,
        "generator": header.generator,
        "apartments": [encode_apartment(record) for _, record in sorted(header.apartments.items())],
    }
    if header.robot != DEFAULT_ROBOT:
        first["robot"] = header.robot
    write_packed(path, f'{dump(first)[:-1]},"episodes":[\n' + ",\n".join(lines) + "\n]}\n")


def write_packed(path: Path, text: str) -> None:
    """Write a text as a gzip file atomically; the same text gives the same bytes."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as stream:
        stream.write(text.encode())
    write_whole(path, packed.getvalue())


def read_packed_json(path: Path) -> Any:
    """JSON values of a gzip file.

    Raises:
        UserError: There is no such file, it is too large, or it is no gzip file of JSON.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    return _parse(path, _unpack(path, size))


@lru_cache(maxsize=32)
def _load(path: Path, changed: int, size: int) -> EpisodeSet:
    """Read and check a file; `changed` and `size` keep the cache from giving an older one."""
    del changed
    fields = FieldChecker(str(path))
    raw = _parse(path, _unpack(path, size))
    raw = fields.record("file", raw, FILE_FIELDS, OPTIONAL_FILE_FIELDS)
    if type(raw["version"]) is not int or raw["version"] != VERSION:
        fields.fail("version", f"{VERSION}, the one that this program reads", raw["version"])
    split = fields.choice("split", raw["split"], tuple(LAYOUTS_OF_SPLIT))
    task = fields.name("task", raw["task"])
    seed = fields.integer("seed", raw["seed"], 2**63 - 1)
    generator = fields.text("generator", raw["generator"], GENERATOR_LENGTH)
    most = sum(len(splits[split]) for splits in LAYOUTS_OF.values()) * VARIATION_COUNT
    apartments: dict[tuple[int, int], ApartmentRecord] = {}
    for index, value in enumerate(fields.rows("apartments", raw["apartments"], 0, most)):
        where = FieldChecker(f"{path}: apartments[{index}]")
        record = decode_apartment(value, where, split)
        key = record.layout, record.variation
        if key in apartments:
            where.fail("variation", "an apartment that is not yet listed", list(key))
        apartments[key] = record
    if len({collection_of(layout) for layout, _ in apartments}) > 1:
        fields.fail("apartments", "homes of one collection", sorted({key[0] for key in apartments}))
    robot = find_robot(fields.name("robot", raw.get("robot", DEFAULT_ROBOT)))
    sizes = {key: record.size for key, record in apartments.items()}
    episodes: dict[str, Episode] = {}
    for index, value in enumerate(fields.rows("episodes", raw["episodes"], 0, MOST_EPISODES)):
        where = FieldChecker(f"{path}: episodes[{index}]")
        episode = decode_episode(value, where, split, sizes, robot)
        if episode.episode_id in episodes:
            where.fail("episode_id", "an id that is not yet taken", episode.episode_id)
        episodes[episode.episode_id] = episode
    found = tuple(episodes.values())
    return EpisodeSet(task, split, seed, generator, apartments, found, path, robot.name)


def _unpack(path: Path, size: int) -> bytes:
    """The text of a gzip file, refused where it is too large."""
    if not path.is_file():
        raise UserError(f"{path}: expected a file, found a folder or a device")
    if size > LARGEST_FILE:
        raise UserError(f"{path}: expected at most {LARGEST_FILE} bytes, found {size}")
    try:
        with gzip.open(path) as stream:
            text = stream.read(LARGEST_TEXT + 1)
    except EOFError:
        raise UserError(f"{path}: expected a whole gzip file, found one that is cut off") from None
    except (OSError, zlib.error) as error:
        raise UserError(f"{path}: expected a gzip file, found: {error}") from None
    if len(text) > LARGEST_TEXT:
        raise UserError(f"{path}: expected at most {LARGEST_TEXT} bytes when unpacked, found more")
    return text


def _parse(path: Path, text: bytes) -> Any:
    """JSON values; no constants beyond JSON, no field twice."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except RecursionError:
        raise UserError(f"{path}: expected episodes as JSON, found it nested too deep") from None
    except ValueError as error:  # JSONDecodeError, UnicodeDecodeError, and what the hooks raise
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: expected episodes as JSON, found: {reason}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice[:40]!r} twice in one object")
    return values


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name}, which is no finite number")


def _mend(task: str | None, split: str | None, homes: str | None) -> str:
    return (
        f"make it with python -m rearrange.episodes generate {task or 'TASK'}"
        f" --homes {homes or DEFAULT_HOMES} --split {split or 'val'}"
    )
