"""Settings of hypothesis, and the reason where tests are skipped."""

import importlib.util

import pytest
from hypothesis import settings

# A deadline for an example would be a timed assertion, and fail on a busy machine. The fast suite tries the
# same few examples every time, so that it fails because of a change; scripts/test.sh --slow searches for
# new ones.
settings.register_profile("searching", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items):
    """Tests marked habitat need the real habitat-sim; where it is missing they are skipped, with the reason."""
    if importlib.util.find_spec("habitat_sim") is not None:
        return
    missing = pytest.mark.skip(
        reason="habitat-sim is not installed: docs/habitat.md says how to get it"
    )
    for item in items:
        if item.get_closest_marker("habitat") is not None:
            item.add_marker(missing)
