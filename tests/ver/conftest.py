import pytest
import torch

# Small operations on busy cores: OpenMP's threads would spend their time waiting for each other.
torch.set_num_threads(1)


@pytest.fixture(scope="module")
def small_shards():
    """Threads share even the smallest mini-batch without images."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ver.ppo.LEAST_SHARD", 1)
        yield
