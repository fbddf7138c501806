import numpy as np
import pytest

from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.tasks import TidyHouse


@pytest.mark.usefixtures("one_variation")
def test_sampled_episodes_move_five_objects_to_other_receptacles():
    episode = TidyHouse().sample_episode("val", np.random.default_rng(0))
    assert len({target.slot for target in episode.targets}) == 5
    for target in episode.targets:
        assert target.start == episode.objects[target.slot][:3]
        assert target.goal_receptacle != target.start_receptacle
        assert {target.goal_receptacle, target.start_receptacle} <= set(APARTMENT.open_receptacles)
