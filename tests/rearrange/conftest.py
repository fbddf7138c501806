import numpy as np
import pytest

from rearrange.episodes import Episode
from rearrange.tasks import Pick, sampling


@pytest.fixture
def one_variation(monkeypatch):
    """Only the first variation of each layout is sampled, so that few apartments are built."""
    monkeypatch.setattr(sampling, "VARIATION_COUNT", 1)


@pytest.fixture(scope="session")
def pick_episodes() -> list[Episode]:
    """A Pick episode in the validation layout and one in the test layout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "VARIATION_COUNT", 1)
        rng = np.random.default_rng(0)
        return [Pick().sample_episode(split, rng) for split in ("val", "test")]
