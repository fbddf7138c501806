"""Toy environments, fakes and checkers that several test files share."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of the repository
