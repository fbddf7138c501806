"""Compiles the large kernels once, before two processes of tests would each compile them at the same time.

scripts/test.sh runs it while pyright uses another core. Whatever is missing here the tests compile.
"""

import tempfile
from pathlib import Path

import numpy as np

from nav.agent import AgentConfig
from nav.env import NavEnv
from nav.episode_files import ScanEpisodes
from rearrange import RearrangeEnv, SimulatorConfig
from rearrange.tasks import TASKS, sampling
from tests.helpers.scanned import hall, write


def worlds() -> None:
    """A step of every task: its own kernels, the robot's, the simulator's and the caster's."""
    for task in TASKS:
        env = RearrangeEnv(task, None, "val", SimulatorConfig(camera_size=8))
        env.reset(seed=0)
        env.step(np.zeros(env.action_space.shape, np.float32))
        env.close()


def navigation() -> None:
    """A step on a floor of ours, and one in a scene of triangles, with colours."""
    agent = AgentConfig(rgb=True)
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder) / "hall.glb", hall())
        for files in (None, ScanEpisodes("pointnav", "", file)):
            env = NavEnv("pointnav", split="val", agent=agent, files=files)
            env.reset(seed=0)
            env.step(1)


if __name__ == "__main__":
    sampling.VARIATION_COUNT = 1  # few homes
    worlds()
    navigation()
