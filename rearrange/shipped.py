"""Folder of the files that come with the code: configs/ and data/, of a checkout or of a wheel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rearrange.errors import check_choice

_PACKAGE = Path(__file__).resolve().parent
CPU = "cpu"  # the preset that changes nothing
ACTING = (
    "action",
    "base_motion",
    "floor_map",
    "glimpse",
    "map_way",
)  # settings of a task that say what it sees and its actions mean


def find_shipped(package: Path) -> Path:
    """The folder of configs/ and data/: a checkout's root, or where setup.py puts them in a wheel.

    Args:
        package: Folder of the package `rearrange`.
    """
    root = package.parent
    return (
        root
        if (root / "configs").is_dir() and (root / "setup.py").is_file()
        else package / "shipped"
    )


SHIPPED = find_shipped(_PACKAGE)
CONFIGS = SHIPPED / "configs"


def preset_file(name: str) -> Path | None:
    """The settings of a preset, None for CPU; UserError that lists those that exist."""
    files = {path.stem: path for path in (CONFIGS / "presets").glob("*.yaml")}
    return files.get(check_choice("preset", name, (CPU, *sorted(files))))


def fitting(names: Sequence[str], preset: str) -> dict[str, Any]:
    """What environments and shipped policies must have alike: camera, agent, and what actions mean.

    Args:
        names: Of YAML files in configs/, the later before the earlier ones; some may be missing.
        preset: Comes last.

    Returns:
        Values of `rearrange.keywords.changed`.

    Raises:
        UserError: There is no such preset.
    """
    import yaml

    files = [CONFIGS / f"{name}.yaml" for name in names] + [preset_file(preset)]
    found: dict[str, Any] = {}
    for file in files:
        if file is None or not file.is_file():
            continue
        told = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        task, agent = told.get("task") or {}, told.get("agent") or {}
        acting = {name: task[name] for name in ACTING if name in task}
        seeing = {"camera_size": told["camera_size"]} if "camera_size" in told else {}
        found |= seeing | agent | acting
    return found
