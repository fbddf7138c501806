"""Homes from files: an MJCF model, and one YAML file beside it that says what is what; docs/homes.md."""

from rearrange.scenes.home_files.home import FileHome, HomeError, read_home, usable_home

__all__ = ["FileHome", "HomeError", "read_home", "usable_home"]
