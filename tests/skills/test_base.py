import numpy as np

from rearrange.tasks import make_task
from skills.base import SkillArgument, as_episode
from skills.learned import LearnedSkill


def test_an_argument_becomes_the_target_of_an_episode(pick_checkpoint):
    env = LearnedSkill("pick", pick_checkpoint).environments(0, seed=0)
    env.reset(seed=1)
    goal = as_episode(
        env.episode, SkillArgument("goal", 7, 0, (1.0, 2.0, 3.0), "fridge_door"), False
    )
    assert goal.targets[0].goal == (1.0, 2.0, 3.0)
    assert goal.targets[0].slot == 7
    # With an empty hand Navigate goes to the start: that has to be what it is told
    task = make_task("navigate")
    task.start([0], [goal], env.state)
    np.testing.assert_allclose(task.memory["goal"][0], (1.0, 2.0, 3.0))
    assert goal.target_joint == "fridge_door"
    start = as_episode(env.episode, SkillArgument("object", 7, 0, (1.0, 2.0, 3.0)), False)
    assert start.targets[0].start == (1.0, 2.0, 3.0)
    assert start.held_slot is None
    # What the hand holds is, to the robot's knowledge, what it should hold.
    assert as_episode(env.episode, SkillArgument("goal", 7, 0, (0, 0, 0)), True).held_slot == 7
