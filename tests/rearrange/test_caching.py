"""Numba's cache across files: a kernel is compiled anew when what it is made of changes, wherever."""

import importlib
import os
import pkgutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import nav
import rearrange
import skills
from rearrange import caching
from tests.helpers import ROOT
from tests.helpers.forks import Forks

FILES = {
    "numbers_of_it.py": "import numpy as np\n\nLEVEL = 1\nTABLE = np.array([0.0, 2.0])\n",
    "inner.py": (
        "import numba\nimport numbers_of_it\n\n"
        "@numba.njit\ndef value():\n    return numbers_of_it.LEVEL + numbers_of_it.TABLE[1]\n"
    ),
    "callee.py": (
        "from inner import value\nfrom rearrange.caching import cached_njit\n\nADDED = 10\n\n"
        "@cached_njit\ndef more():\n    return value() + ADDED\n"
    ),
    "caller.py": (
        "from __future__ import annotations\nimport callee\nfrom argument import Pair\n"
        "from options import OPTIONS\nfrom rearrange.caching import cached_njit\n\n"
        "@cached_njit(**OPTIONS)\ndef double(pair: Pair):\n"
        "    return 2 * callee.more() + pair.first - 1.0\n\n"
        "pair = Pair(first=1.0, second=2.0)\n"
        "print(double(pair), sum(double.stats.cache_hits.values()))\n"
    ),
    "argument.py": (
        "from typing import NamedTuple\n\n"
        "class Pair(NamedTuple):\n    first: float\n    second: float\n"
    ),
    "options.py": "OPTIONS = {'fastmath': {'nnan', 'ninf', 'nsz'}}\n",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A function: what the caller in a folder prints in a fresh process, its value and hits of the cache."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",  # the sources change faster than byte code notices
        "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
    }

    with Forks("rearrange.caching", environment) as forks:

        def run(folder: Path) -> list[str]:
            told = folder / "told.txt"
            told.unlink(missing_ok=True)
            forks.start(folder, told, "caller")
            assert forks.wait() == 0, told.read_text()
            return told.read_text().split()

        yield run


@pytest.fixture
def folder(tmp_path, run):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert run(tmp_path) == ["26.0", "0"]
    assert run(tmp_path) == ["26.0", "1"]
    return tmp_path


def test_a_change_in_any_module_is_noticed_and_a_comment_is_not(folder, run):
    changes = [
        ("numbers_of_it.py", "LEVEL = 1", "LEVEL = 3", ["30.0", "0"]),
        ("numbers_of_it.py", "2.0]", "4.0]", ["34.0", "0"]),
        ("inner.py", "LEVEL +", "LEVEL -", ["18.0", "0"]),
        ("callee.py", "ADDED = 10", "ADDED = 11", ["20.0", "0"]),
        ("options.py", "'nsz'", "'arcp'", ["20.0", "0"]),
        ("argument.py", "first: float\n    second", "second: float\n    first", ["20.0", "0"]),
        ("inner.py", "\n\n", "\n# It is the same\n\n", ["20.0", "1"]),
    ]
    for name, before, after, expected in changes:
        text = (folder / name).read_text()
        assert before in text
        (folder / name).write_text(text.replace(before, after))
        assert run(folder) == expected, (name, after)


CLOSURE = """
from rearrange.caching import cached_njit

@cached_njit
def more(x):
    return x + 1

def twice(function):
    @cached_njit
    def both(x):
        return function(function(x))
    return both

both = twice(more)
print(both(1), sum(both.stats.cache_hits.values()))
"""


def test_a_kernel_that_another_is_given_to_is_served_too(tmp_path, run):
    (tmp_path / "caller.py").write_text(CLOSURE)
    assert run(tmp_path) == ["3", "0"]
    assert run(tmp_path) == ["3", "1"]
    (tmp_path / "caller.py").write_text(CLOSURE.replace("x + 1", "x + 2"))
    assert run(tmp_path) == ["5", "0"]


def modules():
    """The names of all modules that have kernels."""
    for package in (rearrange, nav, skills):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            file = ROOT / (found.name.replace(".", "/") + ".py")
            if file.is_file() and "@cached_njit" in file.read_text():
                yield found.name


def test_kernels_use_nothing_that_is_defined_below_them():
    # That would not be there yet when they are looked at, so its changes elsewhere would go unnoticed
    known, kernels = {}, 0
    for name in modules():
        if name == caching.__name__:
            continue
        for kernel in vars(importlib.import_module(name)).values():
            if isinstance(kernel, Dispatcher) and kernel.py_func in caching._FINGERPRINTS:
                kernels += 1
                now = caching.fingerprint(kernel.py_func, known)
                assert now == caching._FINGERPRINTS[kernel.py_func], kernel.py_func
    assert kernels > 100


class CountingFile:
    """A file of numba's cache that counts how many save or load at once."""

    def __init__(self, folder):
        self._cache_path = str(folder)
        self.saving = self.loading = 0
        self.crowds = []

    def save(self):
        self.saving += 1
        time.sleep(0.01)
        self.crowds.append((self.saving, self.loading))
        self.saving -= 1

    def load(self):
        self.loading += 1
        time.sleep(0.01)
        self.crowds.append((self.saving, min(self.loading, 1)))
        self.loading -= 1


def test_one_saves_at_a_time_and_none_loads_meanwhile(tmp_path):
    file = CountingFile(tmp_path)
    caching._share(file)
    with ThreadPoolExecutor(8) as pool:
        for called in [pool.submit(getattr(file, name)) for name in ("save", "load") * 8]:
            called.result()
    assert set(file.crowds) == {(1, 0), (0, 1)}


def test_a_folder_that_nothing_can_be_written_to_is_no_error(tmp_path):
    file = CountingFile(tmp_path / "missing")
    caching._share(file)
    file.save()
    assert file.crowds == [(1, 0)]


def test_the_first_start_says_what_takes_so_long(tmp_path, monkeypatch):
    """As long as fewer than a tenth of the kernels have been compiled: looking at a home calls some."""
    paths = [tmp_path / f"{k}.nbi" for k in range(20)]
    monkeypatch.setattr(caching, "_INDICES", paths)
    assert "compiles" in caching.first_start()
    paths[3].touch()
    assert "compiles" in caching.first_start()
    paths[4].touch()
    assert caching.first_start() == ""


def test_kernels_that_are_compiled_when_called_are_known():
    """Their files are where numba puts them: all that has run here counts."""
    kernels = [path.parent.name for path in caching._INDICES]
    assert len(kernels) > 20
    assert set(kernels) == {"__pycache__"} or "NUMBA_CACHE_DIR" in os.environ
