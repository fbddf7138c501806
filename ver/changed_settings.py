"""Settings that differ from those with which a run was begun."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from ver.errors import UserError

# Of many settings: a change of it says nothing beside the lines of those that have changed
_DIGEST = "sha256"
_NOT_GIVEN = "not given"
_MISSING = object()  # what a setting was that an older run did not know


def changed_settings(
    directory: Path, config: dict[str, Any], metadata: dict[str, Any]
) -> list[str]:
    """A line for each setting that was another when the run directory was last written.

    Args:
        directory: The run directory; where nothing readable is there, nothing has changed.
        config: The settings of the training now, as `config_to_dict` gives them.
        metadata: What else describes it, such as the settings of the task.

    Returns:
        Lines such as "ppo.clip: 0.2 before, 0.1 now".
    """
    try:
        before = yaml.safe_load((directory / "config.yaml").read_text())
        about = run_metadata(directory / "run.json")
        now = json.loads(json.dumps(metadata))  # as it was written: tuples are lists
    except (OSError, ValueError, TypeError, UserError, yaml.YAMLError):
        return []
    # Of what an environment is given nothing has a default here: what only one has is a change, too
    given = _given(about), _given(now)
    for each, other in (given, given[::-1]):
        each.update({key: _NOT_GIVEN for key in other if key not in each})
    return [*differences(before, config), *differences(about, now)]


def run_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata in a run.json; raises UserError where the file is broken."""
    try:
        metadata = json.loads(path.read_text())["metadata"]
        if isinstance(metadata, dict):
            return metadata
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise UserError(f"{path} is broken: the training's command writes it anew")


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return such lines for two mappings of plain values; what only one of them has is no change."""
    return [f"{key}: {old} before, {new} now" for key, old, new in _differences(before, now)]


def began_from(directory: Path) -> str | None:
    """Return the start_from of a run, "" where it began from scratch; None where no config.yaml tells."""
    try:
        return str(yaml.safe_load((directory / "config.yaml").read_text())["start_from"])
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return None


def check_same_start(directory: Path, start_from: str) -> None:
    """Refuses a start_from that would have no effect: the run goes on from checkpoints of its own.

    The last two parts of a path are compared, so that a run may be moved.

    Raises:
        UserError: The run began otherwise.
    """
    before = began_from(directory)
    if before is None:
        return
    if start_from and Path(start_from).parts[-2:] != Path(before).parts[-2:]:
        began = f"from {before}" if before else "from scratch"
        raise UserError(
            f"start_from={start_from}: {directory} holds a run that began {began}; leave it out to go on "
            "with that, or choose another directory."
        )


def _given(metadata: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the environment, to be changed in place; of none, or others, a dict of its own."""
    arguments = metadata.get("arguments")
    return arguments if isinstance(arguments, dict) else {}


def _differences(before: Any, after: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in after:
            dotted = f"{key}.{name}" if key else str(name)
            if name != _DIGEST:
                yield from _differences(before.get(name, _MISSING), after[name], dotted)
    elif before is not _MISSING and before != after:
        yield key, before, after
