"""Settings of hypothesis, and the reason where tests are skipped."""

import importlib.util

import pytest
import torch
from hypothesis import settings

# A deadline for an example would be a timed assertion, and fail on a busy machine. The fast suite tries the
# same few examples every time, so that it fails because of a change; scripts/test.sh --slow searches for
# new ones.
settings.register_profile("searching", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items):
    """Tests marked habitat need the real habitat-sim, those marked gpu a GPU; elsewhere they are skipped."""
    missing = {}
    if importlib.util.find_spec("habitat_sim") is None:
        missing["habitat"] = "habitat-sim is not installed: docs/habitat.md says how to get it"
    if not torch.cuda.is_available():
        missing["gpu"] = "torch finds no CUDA GPU: docs/gpu.md"
    for item in items:
        for mark, reason in missing.items():
            if item.get_closest_marker(mark) is not None:
                item.add_marker(pytest.mark.skip(reason=reason))
