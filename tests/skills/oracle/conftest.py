import pytest

from rearrange.env import RearrangeEnv
from rearrange.rules import without_stop_masks
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.tasks import default_config


@pytest.fixture(scope="module")
def env():
    """A validation world of Tidy House."""
    return RearrangeEnv("tidy_house", split="val", simulator=SimulatorConfig(camera_size=16))


@pytest.fixture(scope="module")
def worlds():
    """A function from a task to its validation world, made once, in which nothing masks stop."""
    made = {}

    def world(task):
        if task not in made:
            config = without_stop_masks(default_config(task))
            made[task] = RearrangeEnv(
                task, config, split="val", simulator=SimulatorConfig(camera_size=16), seed=0
            )
        return made[task]

    return world
