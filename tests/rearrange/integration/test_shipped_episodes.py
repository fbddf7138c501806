"""The validation episodes that the repository ships fit the apartments and tasks of today."""

import numpy as np
import pytest

from rearrange import RearrangeEnv, SimulatorConfig
from rearrange.episodes import EpisodeSet, default_path
from rearrange.scenes.registry import VARIATION_COUNT
from rearrange.tasks import TASKS

SHIPPED = 200


@pytest.mark.parametrize("task", TASKS)
def test_shipped_episodes_can_be_played(task):
    episodes = EpisodeSet.load(default_path(task, "val"), task, "val")
    assert len(episodes) >= SHIPPED
    assert len(episodes.apartments) > VARIATION_COUNT / 2
    # One apartment for all tasks, since building one takes half a second.
    index = next(k for k, episode in enumerate(episodes.episodes) if episode.variation == 0)
    env = RearrangeEnv(task, None, "val", SimulatorConfig(camera_size=8))
    env.reset(options={"episode": episodes.episode(index)})
    assert env.state.contact_force[0] == 0.0
    action = np.zeros(env.task.action_size, np.float32)
    observation, reward, _, _, _ = env.step(action)
    assert env.observation_space.contains(observation)
    assert np.isfinite(reward)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_shipped_episodes_start_free_and_at_rest(task):
    env = RearrangeEnv(task, None, "val", SimulatorConfig(camera_size=8))
    for episode in EpisodeSet.load(default_path(task, "val")):
        env.reset(options={"episode": episode})
        assert env.state.contact_force[0] == 0.0
        for slot, pose in episode.objects.items():
            if slot != episode.held_slot:
                np.testing.assert_allclose(
                    env.state.object_position[0, slot], pose[:3], atol=0.002, err_msg=str(slot)
                )
