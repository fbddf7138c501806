import numpy as np
import pytest

from nav.agent import AgentConfig
from nav.env import NavEnv
from nav.episode import NavEpisode, SceneMesh
from nav.scene import Places
from nav.table import TASKS
from rearrange import UserError

SMALL = AgentConfig(camera_size=16)
GOOD = {"episode_id": "1", "building": "empty_hall", "start": (1.0, 1.0, 0.0), "goal": (3.0, 1.0)}


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("episode_id", "1\n2", "expected printable characters"),
        ("building", 7, "expected printable characters, found 7"),
        ("start", "x", "expected a tuple of 3 finite numbers, found 'x'"),
        ("start", (1.0, 1.0), "expected a tuple of 3 finite numbers"),
        ("start", (1.0, 1.0, np.nan), "expected a tuple of 3 finite numbers"),
        ("goal", np.ones(2), "expected a tuple of 2 finite numbers, found array"),
        ("goal", ("1", "2"), "expected a tuple of 2 finite numbers"),
        ("view_points", [(1.0, 2.0)], "expected Places"),
        ("view_points", Places(np.ones((0, 2))), "expected Places"),
        ("view_points", Places(np.full((3, 2), np.inf)), "expected Places"),
        ("start", (1.0, 1.0, 1e300), "expected a yaw from -2 pi to 2 pi"),
        ("radius", "0.2", "expected None or a finite number, found '0.2'"),
        ("geodesic_distance", np.nan, "expected None or a finite number, found nan"),
        ("category", np.ones(2), "expected None or a str, found array"),
        ("mesh", "room.glb", "expected None or a SceneMesh, found 'room.glb'"),
    ],
)
def test_fields_of_the_wrong_type_are_named_in_one_line(field, value, told):
    env = NavEnv("pointnav", split="val", agent=SMALL)
    env.reset(options={"episode": NavEpisode(**GOOD)})
    with pytest.raises(UserError, match=rf'^options\["episode"\]: {field}: {told}') as error:
        env.reset(options={"episode": NavEpisode(**GOOD | {field: value})})
    assert "\n" not in str(error.value)
    assert env.episode == NavEpisode(**GOOD)


@pytest.mark.parametrize("task", TASKS)
def test_an_episode_in_a_scene_of_a_file_is_refused_in_our_buildings(task):
    env = NavEnv(task, split="val", agent=SMALL)
    env.reset(seed=0)
    before = env.episode
    seen = {"category": "chair", "view_points": Places(np.ones((2, 3)))}
    episode = NavEpisode(**GOOD | seen, mesh=SceneMesh("room.glb"))
    with pytest.raises(
        UserError, match=r"^episode '1' is in room\.glb, not in one of our buildings"
    ):
        env.reset(options={"episode": episode})
    assert env.episode == before
