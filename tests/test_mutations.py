"""Does a test notice when the learner is broken? Twenty mistakes that would still learn something.

Each replaces one text in a temporary copy of `ver/`; the test file of that module, or the one that is
named, has to fail. When a text is not found, the code has moved on: give the mistake its new text.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT

MISTAKES = {  # what is broken: module, text, what takes its place, and who notices if not its test
    "GAE: lambda ignored": ("gae", "decay = gamma * gae_lambda * (", "decay = gamma * ("),
    "GAE: no bootstrap at a truncation": (
        "gae", "== TRUNCATED, self.table(final_values), following)", "== TRUNCATED, 0.0, following)",
    ),
    "GAE: bootstrap after a termination": ("gae", "outcome == TERMINATED, 0.0,", "False, 0.0,"),
    "V-trace: rho not truncated": ("vtrace", "np.minimum(rho_bar, ratio) * diff", "ratio * diff"),
    "V-trace: c not truncated": ("vtrace", "np.minimum(c_bar, ratio) * goes", "ratio * goes"),
    "advantage's sign swapped": ("ppo_loss", "policy_loss = -(weights", "policy_loss = (weights"),
    "surrogate takes the larger": ("ppo_loss", "= torch.minimum(", "= torch.maximum("),
    "importance weight forgotten": ("ppo_loss", "-(weights * surrogate).mean", "-surrogate.mean"),
    "entropy bonus's sign swapped": (
        "ppo_loss", "- entropy_coefficient * entropy", "+ entropy_coefficient * entropy",
    ),
    "divergence of the wrong direction": (
        "ppo_loss", "(ratio - 1.0 - log_ratio)", "(1.0 - ratio + log_ratio)",
    ),
    "returns lack the value": (
        "experience", "        advantages + buffer.values[slots],", "        advantages,", "policy_lag",
    ),
    "importance weights upside down": (
        "experience", "(length + 1) / counts, maximum", "counts / (length + 1), maximum",
    ),
    "mask dropped, last action seen at an episode's start": (
        "mini_batches", "torch.as_tensor(~buffer.first[rows], device=device)",
        "torch.ones(len(rows), dtype=torch.bool)", "policy_lag",
    ),
    "hidden state shifted by one step": (
        "mini_batches", "of[batch.heads], device", "of[batch.heads - 1], device", "policy_lag",
    ),
    "gradient not clipped": ("ppo", "limit or math.inf", "math.inf"),
    "entropy coefficient falls below its target": (
        "entropy", "(entropy - self.config.target)", "(self.config.target - entropy)",
    ),
    "state kept across episodes": (
        "networks/policy", "next_state = self.core.step(features, state * masks[:, None])",
        "next_state = self.core.step(features, state)",
    ),
    "spread missing in the log-probability": (
        "networks/heads", "- self.log_std - _HALF_LOG_2PI", "- _HALF_LOG_2PI",
    ),
    "binary action's probability swapped": (
        "networks/heads", "> self.gaussian.centre, 1.0, -1.0)", "> self.gaussian.centre, -1.0, 1.0)",
    ),
    "variance forgets that means differ": (
        "networks/normaliser", "delta.square() * count * rows / total**2", "0.0 * delta",
    ),
}  # fmt: skip


def broken(name: str) -> tuple[Path, str]:
    """The file of a mistake, from the root, and its text with the mistake."""
    module, old, new = MISTAKES[name][:3]
    path = Path("ver", f"{module}.py")
    text = (ROOT / path).read_text()
    assert text.count(old) == 1, f"{name}: its text occurs {text.count(old)} times in {path}"
    return path, text.replace(old, new)


def noticing(name: str) -> Path:
    """The file of tests that has to fail."""
    module, _, _, *another = MISTAKES[name]
    test = Path("tests/ver", *another or (module,))
    return test.with_name(f"test_{test.name}.py")


@pytest.mark.parametrize("name", MISTAKES)
def test_every_mistake_still_fits_the_code(name):
    path, text = broken(name)
    compile(text, path, "exec")
    assert (ROOT / noticing(name)).is_file()


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the learner and its tests, of which the tests that are to notice pass."""
    root = tmp_path_factory.mktemp("copy")
    for folder in ("ver", "atomic_files", "benchmarks", "tests/ver", "tests/helpers"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "tests/__init__.py", "tests/conftest.py"):
        shutil.copy(ROOT / file, root / file)
    done = run(root, *sorted({str(noticing(name)) for name in MISTAKES}))
    assert done.returncode == 0, done.stdout
    return root


def run(root: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """The tests, in the copy: what is broken there may not end by itself."""
    return subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests],
        cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True,
        timeout=600,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_every_mistake_is_noticed(copy, name):
    path, text = broken(name)
    try:
        (copy / path).write_text(text)
        done = run(copy, str(noticing(name)))
    finally:
        shutil.copy(ROOT / path, copy / path)
    assert done.returncode == 1, done.stdout  # tests failed; 2 and more: they could not be run
