import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.sim.mujoco import SimulatorConfig
from skills import SkillArgument, load_skills


def test_random_skills_act_until_their_time_out():
    world = RearrangeEnv("pick", None, "val", SimulatorConfig(camera_size=8))
    world.reset(seed=1)
    target = world.episode.targets[0]
    argument = SkillArgument("object", target.slot, 0, target.start)
    skills = load_skills("random")
    pick = skills["pick"]
    told = []
    for _ in range(2):
        pick.reset(world, argument)
        told.append([pick.act(world) for _ in range(50)])
    np.testing.assert_array_equal(told[0], told[1])
    scale = world.task.action.scale(world.robot.actions)
    assert np.all(np.abs(told[0]) <= scale)
    assert np.all(np.abs(told[0]).max(axis=0) > 0.8 * scale)
    assert not pick.done(world)
    assert (pick.source, pick.timeout, skills["navigate"].timeout) == ("random", 200, 300)
    world.close()
