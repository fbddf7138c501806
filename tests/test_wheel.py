"""The wheel, installed outside the checkout: what a stranger gets with pip."""

import os
import subprocess
import sys
import zipfile

import pytest

from rearrange.shipped import SHIPPED, find_shipped
from tests.helpers import ROOT


def test_a_checkout_finds_its_own_files_and_a_wheel_those_in_the_package(tmp_path):
    assert SHIPPED == ROOT
    package = tmp_path / "rearrange"
    assert find_shipped(package) == package / "shipped"
    (tmp_path / "configs").mkdir()  # somebody else's
    assert find_shipped(package) == package / "shipped"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The project's wheel, built from a copy, so that nothing is left in the checkout."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, files):
        if (ROOT / name).is_file() and not name.startswith(("docs/", "results/", "tests/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)], check=True
    )
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.slow
def test_the_wheel_holds_what_the_checkout_ships(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("configs", "data"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"rearrange/shipped/{path.relative_to(ROOT)}" in names
    assert "planner/domain.pddl" in names
    assert not any(name.startswith("tests/") for name in names)


@pytest.mark.slow
def test_an_installed_wheel_plans_trains_and_evaluates_elsewhere(wheel, tmp_path):
    site, home = tmp_path / "site", tmp_path / "home"
    home.mkdir()
    zipfile.ZipFile(wheel).extractall(site)

    def run(*arguments: str) -> str:
        # The wheel's packages come before those of the checkout that this environment may have.
        variables = os.environ | {"PYTHONPATH": str(site)}
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=home, env=variables, check=False, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    run("console", "doctor", "--seconds", "0")
    run("planner.eval", "tidy_house", "--episodes", "1", "--json", "result.json")
    tiny = ["trainer.total_steps=64", "trainer.collect.num_environments=2"]
    tiny += ["trainer.collect.environments_per_worker=1", "trainer.collect.rollout_length=32"]
    told = run("skills.train", "pick", *tiny)
    assert "policy in runs/pick/policy.safetensors" in told
    config = (home / "runs" / "pick" / "config.yaml").read_text()
    assert "final_log_std: -2.2" in config  # of configs/pick.yaml
    run("skills.eval", "pick", "--checkpoint", "runs/pick/policy.safetensors", "--episodes", "1")
    assert not (site / "runs").exists()
