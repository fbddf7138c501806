"""Packages of examples/, as if they were installed."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.helpers import ROOT


def install(package: Path, folder: Path) -> dict[str, str]:
    """Write what pip would beside a package; environment variables of processes that find it."""
    about = folder / f"{package.name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 1.0\n")
    lines = [f"[{group}]\n{name} = {value}\n" for group, name, value in entry_points_of(package)]
    (about / "entry_points.txt").write_text("".join(lines))
    path = os.pathsep.join([str(ROOT), str(package), str(folder)])
    return {**os.environ, "PYTHONPATH": path}


def entry_points_of(package: Path) -> list[tuple[str, str, str]]:
    """Group, name and value of what a package announces."""
    told = (package / "pyproject.toml").read_text()
    return re.findall(r'^\[project\.entry-points\."(.+)"\]\n(\w+) = "(.+)"$', told, re.MULTILINE)


def run(installed: dict[str, str], cwd: Path, *words: str, how: str = "-m") -> str:
    """What a command prints that finds the package."""
    done = subprocess.run(
        [sys.executable, how, *words], cwd=cwd, env=installed, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
