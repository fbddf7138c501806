"""Folder of the files that come with the code: configs/ and data/, of a checkout or of a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


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
