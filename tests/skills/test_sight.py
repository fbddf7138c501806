from types import SimpleNamespace

import numpy as np
import pytest

from rearrange.errors import UserError
from skills.sight import ROOM, AgentEye, Sight


def test_agents_in_scenes_of_files_cannot_be_watched():
    env = SimpleNamespace(_worlds=SimpleNamespace(files=object()))
    with pytest.raises(UserError, match="only agents in our own buildings can be watched"):
        AgentEye(env)  # pyright: ignore


def test_a_sight_is_the_same_after_its_way_through_bytes():
    sight = Sight(
        ROOM, "pick", "5000/3", "a 1", 7, 300, "nothing", (1.0, 2.0, 0.5), "fetch", (1, 4), ((0.0, 1.0, 2.0),),
        {"pick": 0.25}, {"grip": -1.0}, np.arange(14, dtype=np.float32).reshape(2, 7),
        np.arange(60, dtype=np.uint8).reshape(4, 5, 3),
    )  # fmt: skip
    for kept in (sight, Sight(**(vars(sight) | {"picture": None, "slots": ()}))):
        read = Sight.from_bytes(kept.to_bytes())
        assert read.scene == kept.scene
        assert (read.told, read.rewards, read.action) == (kept.told, kept.rewards, kept.action)
        np.testing.assert_array_equal(read.poses, kept.poses)
        np.testing.assert_array_equal(read.picture, kept.picture)
