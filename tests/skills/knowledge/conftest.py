import pytest

from rearrange.env import RearrangeEnv
from rearrange.sim.mujoco import SimulatorConfig


@pytest.fixture
def begin():
    """A function from a task and a seed to a world in which an episode of it has begun."""

    def make(task: str, seed: int) -> RearrangeEnv:
        world = RearrangeEnv(task, split="val", simulator=SimulatorConfig(camera_size=8))
        world.reset(seed=seed)
        return world

    return make
