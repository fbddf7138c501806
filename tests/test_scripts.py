"""Scripts: an environment that is not whole, and paths that are the caller's."""

import os
import shutil
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers import ROOT


def run(script, folder, **variables):
    """Run a script of a checkout in a folder; what it printed, and its exit status."""
    told = subprocess.run(
        ["bash", str(script)], cwd=folder, env=os.environ | variables,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return told.stdout + told.stderr, told.returncode


@pytest.fixture
def checkout(tmp_path):
    """A checkout of the scripts alone."""
    shutil.copytree(ROOT / "scripts", tmp_path / "checkout" / "scripts")
    return tmp_path / "checkout"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ensurepip") is None, reason="needs python3-venv")
def test_an_environment_without_pip_is_healed(checkout):
    venv.create(checkout / ".venv", with_pip=False)  # as one that is interrupted leaves it
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    run(checkout / "scripts" / "setup.sh", checkout, PATH=path, PIP_NO_INDEX="1")
    python = checkout / ".venv" / "bin" / "python"
    assert subprocess.run([python, "-m", "pip", "--version"], check=False).returncode == 0


@pytest.mark.parametrize("script", ["fault_drill.sh", "gpu_day.sh"])
def test_paths_are_from_where_the_caller_is(checkout, tmp_path, script):
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$PWD"\n')
    python.chmod(0o755)
    (checkout / ".venv" / "installed").touch()
    assert run(checkout / "scripts" / script, tmp_path, PYTHON="") == (f"{tmp_path}\n", 0)


def test_a_misspelt_skill_is_told_before_anything_is_installed(checkout):
    (checkout / "configs").mkdir()
    told = subprocess.run(
        ["bash", str(checkout / "scripts" / "train_skill.sh"), "pik"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (
        2,
        "error: unknown skill 'pik': configs/ has a file for each\n",
    )
    assert not (checkout / ".venv").exists()
