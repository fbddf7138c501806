import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.episodes import EpisodeSet, default_path
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.tasks import TASKS
from rearrange.view import episode_sheet
from rearrange.view.episode_sheet import Subject, facts


def first(task):
    return EpisodeSet.load(default_path(task, "val"), task, "val").episode(0)


@pytest.mark.parametrize("task", list(TASKS))
def test_every_task_says_what_is_asked(task):
    episode = first(task)
    subject = Subject.of(task, episode)
    text = "\n".join(facts(subject))
    assert all(f"slot {target.slot}" in text for target in episode.targets)
    assert "arm joints at the start" in text
    assert (subject.handle is None) == (episode.target_joint is None)
    assert (subject.navigation is not None) == (
        task in ("navigate", *episode_sheet.household_names())
    )
    moved = [t.goal_receptacle for k, t in enumerate(episode.targets) if k in subject.goals]
    assert all(f"to {name}" in text for name in moved)
    carries = episode.held_slot is not None  # Navigate to where something belongs, and Place
    assert bool(moved) == (carries or task in episode_sheet.household_names())


def test_zero_actions_keep_the_base_where_it_is():
    world = RearrangeEnv("navigate", split="val", simulator=SimulatorConfig(camera_size=8))
    world.reset(options={"episode": first("navigate")})
    before = world.state.base_pose.copy()
    assert episode_sheet.run_on(world, 3, "zero", 0) is False
    assert world.elapsed_steps == 3
    np.testing.assert_array_equal(world.state.base_pose, before)
    episode_sheet.run_on(world, 6, "random", 0)
    assert not np.array_equal(world.state.base_pose, before)
