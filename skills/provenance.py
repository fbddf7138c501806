"""Origin of a result: the `made` block of every JSON that an evaluation or benchmark writes."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from rearrange.errors import UserError
from rearrange.scenes.registry import HOMES, check_split
from skills.command import machine, write_json
from ver.public import ROOT, without_private_folders

# A change here makes a result one of no commit. Documents and results do not.
SOURCES = (
    *("rearrange", "nav", "ver", "locomotion", "skills", "planner"),
    *("benchmarks", "experiments", "configs", "data"),
)
DISTRIBUTIONS = {
    "torch": ("torch",),
    "mujoco": ("mujoco-core", "mujoco"),
    "numpy": ("numpy",),
    "numba": ("numba",),
    "embreex": ("embreex",),
    "unified-planning": ("unified-planning",),
    "habitat-sim": ("habitat-sim",),
    "warp-lang": ("warp-lang",),
    "mujoco-warp": ("mujoco-warp",),
}
TEST = "test"  # the split that only release evaluations see
UNKNOWN = "unknown"


def made(
    module: str,
    arguments: Sequence[str],
    *,
    what: str,
    seed: int | None = None,
    split: str = "",
    homes: str = "",
    release: str = "",
    checkpoints: Iterable[str | Path] = (),
) -> dict[str, Any]:
    """The origin of a result that is about to be made. Call it before the work: code may change meanwhile.

    Args:
        module: What runs, as after `python -m`.
        arguments: Its command line.
        what: What is evaluated or measured, in a few words.
        seed: Of the episodes, or of the first run.
        split: Which apartments or buildings, if any.
        homes: Which collection of homes, if any.
        release: The release that looks at the test split.
        checkpoints: Files of the policies that act.
    """
    commit, dirty = commit_of(ROOT)
    return {
        "what": what,
        "command": command_line(module, arguments),
        "commit": commit,
        "dirty": dirty,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "split": split,
        "homes": without_private_folders(homes),
        "release": release,
        "seed": seed,
        "checkpoints": _checksums(checkpoints),
        "machine": machine(),
        "versions": versions(),
    }


def told_machine(machine: Mapping[str, Any]) -> str:
    """A line that names the machine of a result."""
    return f"machine: {machine['cpu']}, {machine['cores']} cores"


def write_result(path: str | Path, record: dict[str, Any]) -> None:
    """Write a result as JSON, atomically and without private folders."""
    write_json(path, without_private_folders(record))


def command_line(module: str, arguments: Sequence[str]) -> str:
    """Return the command that runs a module as a user types it, without private folders."""
    return f"python -m {module} {shlex.join(without_private_folders(list(arguments)))}".rstrip()


def add_homes(parser: ArgumentParser) -> None:
    """Options of every evaluation that say in which homes: --split, --homes, --release."""
    parser.add_argument("--split", default="val", help="train, val (default), or for releases test")
    parser.add_argument("--homes", **HOMES)
    parser.add_argument(
        "--release", default="", metavar="NAME", help=f"which one --split {TEST} judges"
    )


def check_homes_asked(options: Any) -> None:
    """Raise a UserError for an unknown split, or for the test split without the name of a release."""
    split, release = check_split(options.split), options.release
    if split == TEST and not release:
        raise UserError(
            "--split test judges a release, once: choose with --split val, or say --release NAME"
        )
    if release and split != TEST:
        raise UserError(f"--release is for --split {TEST}, not {split}: leave it out")


def checksum(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _checksums(checkpoints: Iterable[str | Path]) -> dict[str, str]:
    """Public path -> checksum of each file; of those outside the repository names may be alike."""
    found: dict[str, str] = {}
    for path in dict.fromkeys(Path(given).resolve() for given in checkpoints):
        name = without_private_folders(str(path))
        found[f"{name} ({len(found) + 1})" if name in found else name] = checksum(path)
    return found


@lru_cache
def versions() -> dict[str, str]:
    """Versions of Python and of what decides the results, as far as it is installed."""
    found = {"python": platform.python_version()}
    for name, distributions in DISTRIBUTIONS.items():
        for distribution in distributions:
            try:
                found[name] = metadata.version(distribution)
                break
            except metadata.PackageNotFoundError:
                continue
    return found


def commit_of(root: Path) -> tuple[str, bool | None]:
    """The commit of a repository, and whether its sources differ; unknown and None outside git.

    Also where another repository holds a copy without knowing it, such as a virtual environment in it. Who
    copies sources without git says of which commit they are: the environment variable SOURCE_COMMIT.
    """
    unknown = os.environ.get("SOURCE_COMMIT") or UNKNOWN, None
    try:
        if not _git(root, "ls-files", "--", *SOURCES):
            return unknown
        commit = _git(root, "rev-parse", "HEAD")
        changes = _git(root, "status", "--porcelain", "--", *SOURCES)
    except (OSError, subprocess.CalledProcessError):
        return unknown
    return commit, bool(changes)


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
