"""Collections of homes by name: their layouts and splits, and the kind of home that each is of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, update_wrapper
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from rearrange.declarations import FILE_ENDINGS
from rearrange.entry_points import load
from rearrange.errors import UserError, check_choice
from rearrange.scenes.apartment import VARIATION_COUNT as VARIATION_COUNT  # asked for here
from rearrange.scenes.spec import SceneSpec

# Two collections of homes: eleven plans drawn by hand, and plans without end. A layout is the number of a plan.
CLASSIC, GENERATED = "classic", "generated"
# `register_homes` adds those of other kinds of home.
LAYOUTS_OF: dict[str, Mapping[str, Sequence[int]]] = {
    CLASSIC: {"train": (0, 1, 2, 5, 6, 7, 8, 9, 10), "val": (3,), "test": (4,)},
    GENERATED: {"train": range(1000, 5000), "val": range(5000, 5100), "test": range(5100, 5200)},
}
LAYOUTS_OF_SPLIT = LAYOUTS_OF[CLASSIC]
DEFAULT_HOMES = GENERATED  # where nobody says which: the one place that decides
GROUP = "rearrange.homes"  # of other packages' entry points; each names a SceneSpec


class _Collections:
    """Names of all collections of homes, also those of other packages; asked for when they are needed."""

    def __contains__(self, name: object) -> bool:
        return name in LAYOUTS_OF or _is_file(name) or name in tuple(self)

    def __iter__(self) -> Iterator[str]:
        _load_others()
        return iter(LAYOUTS_OF)


HOMES: dict[str, Any] = {  # of an option `--homes`, as argparse takes it
    "default": DEFAULT_HOMES,
    "choices": _Collections(),
    "metavar": "NAME|FILE.yaml",
    "help": (
        f"{CLASSIC}: eleven plans drawn by hand; {GENERATED}: plans without end; or the YAML file of your own "
        "home or objects; "
        f"default: {DEFAULT_HOMES}"
    ),
}
# Of the generated apartments, which are too many, a process keeps so many: more than the worlds that a worker
# steps. Each takes about a megabyte with its grid and its model.
KEPT_COUNT = 64


def layouts_of(split: str, homes: str = DEFAULT_HOMES) -> Sequence[int]:
    """The layouts of a split of a collection of homes; raises UserError if there is no such thing."""
    splits = LAYOUTS_OF[check_homes(homes)]
    if split not in splits:
        raise UserError(f"split must be one of {', '.join(splits)}, not '{split}'")
    return splits[split]


def check_split(split: str) -> str:
    """Return the split or raise a UserError that lists those that exist."""
    return check_choice("split", split, LAYOUTS_OF_SPLIT)


def check_homes(homes: str) -> str:
    """Return the name of a collection of homes or raise a UserError that lists those that exist.

    A path of a YAML file is read, and the name of its home, or of its objects, returned; see docs/homes.md.
    """
    if _is_file(homes):
        return _register_file(Path(homes).resolve())
    if homes not in HOMES["choices"]:
        there = ", ".join(LAYOUTS_OF)
        raise UserError(f"homes must be one of {there}, or the YAML file of a home, not '{homes}'")
    return homes


def _is_file(homes: object) -> bool:
    return isinstance(homes, str) and homes.endswith(FILE_ENDINGS)


@cache
def _register_file(path: Path) -> str:
    """Make the home of a file known; its name."""
    # By their names, since they read with what is made of this registry
    objects = import_module("rearrange.scenes.object_files")
    if objects.is_object_file(path):
        spec = objects.apartments_with(path)
    else:
        spec = import_module("rearrange.scenes.home_files").usable_home(path)
    register_homes(spec)
    return spec.name


def collection_of(layout: int) -> tuple[str, str] | None:
    """The collection and the split that a layout belongs to; None if there is no such layout."""
    found = _collection_of(layout)
    if found is None:
        _load_others()
        found = _collection_of(layout)
    return found


def _collection_of(layout: int) -> tuple[str, str] | None:
    for homes, splits in LAYOUTS_OF.items():
        for split, layouts in splits.items():
            if layout in layouts:
                return homes, split
    return None


_KINDS: dict[str, SceneSpec] = {}  # collection of homes -> their kind


def register_homes(spec: SceneSpec) -> None:
    """Make a kind of home known by the names of its collections, and by its layouts.

    Raises:
        UserError: A name or a layout is taken, or a collection lacks a split.
    """
    for homes, splits in spec.layouts.items():
        if _KINDS.get(homes, spec) is not spec:
            raise UserError(
                f"homes '{homes}' of kind {spec.name}: there are such homes: rename them"
            )
        if set(splits) != set(LAYOUTS_OF_SPLIT):
            raise UserError(
                f"homes '{homes}': splits must be {', '.join(LAYOUTS_OF_SPLIT)}, not {', '.join(splits)}"
            )
        for layout in (layout for layouts in splits.values() for layout in layouts):
            taken = _collection_of(layout)
            if taken is not None and taken[0] != homes:
                raise UserError(
                    f"homes '{homes}': layout {layout} is of homes '{taken[0]}': renumber it"
                )
    for homes, splits in spec.layouts.items():
        _KINDS[homes], LAYOUTS_OF[homes] = spec, splits


def unregister_homes(spec: SceneSpec) -> None:
    """Take out what `register_homes` has added."""
    for homes in spec.layouts:
        del _KINDS[homes], LAYOUTS_OF[homes]


@cache
def _load_others() -> None:
    for point in entry_points(group=GROUP):
        register_homes(load(point, "homes", SceneSpec))


def spec_of_homes(homes: str) -> SceneSpec:
    """The kind of a collection of homes; raises UserError if there is no such collection."""
    return _KINDS[check_homes(homes)]


def spec_of_layout(layout: int) -> SceneSpec:
    """The kind of home of a layout; raises UserError if there is no such layout."""
    found = collection_of(layout)
    if found is None:
        raise UserError(f"there is no layout {layout}")
    return _KINDS[found[0]]


def split_of_layout(layout: int) -> str | None:
    """The split that a layout belongs to, in whatever collection; None if there is no such one."""
    found = collection_of(layout)
    return None if found is None else found[1]


def ranges_of(split: str) -> str:
    """The layouts of a split in words, for messages."""
    told = []
    for splits in LAYOUTS_OF.values():
        layouts = splits[split]
        if isinstance(layouts, range) and len(layouts) > 1:
            told.append(f"{layouts[0]} to {layouts[-1]}")
        else:
            told.append(", ".join(map(str, layouts)))
    return ", ".join(told)


Made = TypeVar("Made")


class kept_by_apartment(Generic[Made]):  # noqa: N801 - a decorator
    """Cache of what a function makes of (layout, variation), per process.

    Keeps what is made of the classic apartments, and of the last KEPT_COUNT generated ones.
    """

    def __init__(self, make: Callable[[int, int], Made]) -> None:
        """Wrap the function."""
        self._classic = lru_cache(maxsize=None)(make)
        self._generated = lru_cache(maxsize=KEPT_COUNT)(make)
        update_wrapper(self, make)

    def __call__(self, layout: int, variation: int) -> Made:
        """What the function returns for the apartment."""
        classic = any(layout in layouts for layouts in LAYOUTS_OF[CLASSIC].values())
        return (self._classic if classic else self._generated)(layout, variation)

    def cache_clear(self) -> None:
        """Forget everything."""
        self._classic.cache_clear()
        self._generated.cache_clear()
