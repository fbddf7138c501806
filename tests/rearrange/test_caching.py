"""Numba's cache across files: a kernel is compiled anew when what it calls in another file changes."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CALLEE = "import numba\n\n@numba.njit(cache=True)\ndef value():\n    return {}\n"
CALLER = (
    "import callee\nfrom callee import value\nfrom rearrange.caching import cached_njit\n\n"
    "@cached_njit(callee)\ndef double():\n    return 2 * value()\n\n"
    "print(double(), sum(double.stats.cache_hits.values()))\n"
)


def run(folder: Path) -> list[str]:
    """What the caller prints in a fresh process: its value and how often the cache served it."""
    environment = os.environ | {
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",  # the sources change faster than byte code notices
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    command = [sys.executable, "caller.py"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.split()


def test_a_kernel_is_compiled_anew_when_a_module_that_it_uses_changes(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "callee.py").write_text(CALLEE.format(1))
    assert run(tmp_path) == ["2", "0"]
    assert run(tmp_path) == ["2", "1"]
    (tmp_path / "callee.py").write_text(CALLEE.format(10))
    assert run(tmp_path) == ["20", "0"]
    assert run(tmp_path) == ["20", "1"]
