"""The wheel: it holds what the checkout ships. tests/benchmarks/test_install.py installs it."""

import zipfile

import pytest

from benchmarks.install import build_wheel
from rearrange.shipped import SHIPPED, find_shipped
from tests.helpers import ROOT


def test_a_checkout_finds_its_own_files_and_a_wheel_those_in_the_package(tmp_path):
    assert SHIPPED == ROOT
    package = tmp_path / "rearrange"
    assert find_shipped(package) == package / "shipped"
    (tmp_path / "configs").mkdir()  # somebody else's
    assert find_shipped(package) == package / "shipped"


@pytest.mark.slow
def test_the_wheel_holds_what_the_checkout_ships(tmp_path):
    names = set(zipfile.ZipFile(build_wheel(tmp_path)).namelist())
    for folder in ("configs", "data"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"rearrange/shipped/{path.relative_to(ROOT)}" in names
    assert "planner/domain.pddl" in names
    assert not any(name.startswith("tests/") for name in names)
