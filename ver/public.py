"""Removal of private folders from what is written: files that we write are given away."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# From the root, from home, or up from here; also within `key=path` and `a=path,b=path`
_PATH = re.compile(r"(?:(?<=^)|(?<=[=,;'\"\[]))(?:/|~|\.\./)[^=,;'\"\[\]]*")


def without_private_folders(value: Any) -> Any:
    """Shortens paths in JSON-able values: from the repository's root on, others to file names."""
    if isinstance(value, str | Path):
        return _PATH.sub(_public, str(value))
    if isinstance(value, dict):
        return {
            without_private_folders(key): without_private_folders(part)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_private_folders(part) for part in value]
    return value


def _public(match: re.Match[str]) -> str:
    path = Path(os.path.expanduser(match[0])).resolve()  # the repository may lie behind a link
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
