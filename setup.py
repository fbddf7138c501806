"""Puts configs/ and data/ into wheels, as rearrange/shipped; all else is declared in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


class BuildWithData(build_py):
    """Builds the packages, and what rearrange/shipped.py looks for."""

    def run(self) -> None:
        """Copy after all else; an editable install finds them in the checkout."""
        super().run()
        if self.editable_mode:
            return
        for name in ("configs", "data"):
            shutil.copytree(
                ROOT / name,
                Path(self.build_lib) / "rearrange" / "shipped" / name,
                dirs_exist_ok=True,
            )


setup(cmdclass={"build_py": BuildWithData})
