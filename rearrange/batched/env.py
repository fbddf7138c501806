"""The Gymnasium vector environment of homes on a device."""

from __future__ import annotations

from typing import Any

from rearrange.batched import check_installed
from rearrange.batched.pool import PoolConfig, make_pool
from rearrange.batched.simulator import DeviceSimulator
from rearrange.batched.starts import check_config
from rearrange.batched.worlds import PooledWorlds, check_shown
from rearrange.choices import Many
from rearrange.env import RearrangeEnv
from rearrange.episodes import RecordedStarts
from rearrange.robot import find_robot
from rearrange.scenes.registry import DEFAULT_HOMES, spec_of_homes
from rearrange.settings import check_ranges
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import make_task
from rearrange.tasks.true_state import DEPTH
from rearrange.threads import cores
from rearrange.vector_shell import TaskVectorEnv
from rearrange.worlds import Worlds


def check_on_device(
    task: str, config: Any, simulator: SimulatorConfig, homes: str, device: str
) -> None:
    """Raise a UserError where Warp or the device is missing, or what is asked for is not there on one.

    Args:
        task: See DeviceVectorEnv; so the others.
        config: None for its defaults.
        simulator: Settings.
        homes: Their collection.
        device: "cuda" or "cpu".
    """
    check_installed()
    from rearrange.batched.physics import find_device

    find_device(device)
    scene = spec_of_homes(homes)
    check_config(simulator, scene)
    check_shown(task, make_task(task, config, 1, find_robot(simulator.robot), scene))


class DeviceVectorEnv(TaskVectorEnv):
    """N worlds on one device, restarted in the step in which they end, from a pool of start states.

    Images are torch tensors where the device draws them, which a GPU does; all else are arrays.

    Attributes:
        task: What is done in them.
    """

    SINGLE = RearrangeEnv
    _worlds: PooledWorlds

    def __init__(
        self,
        num_envs: int,
        task: str = "pick",
        config: Any = None,
        split: str = "train",
        simulator: SimulatorConfig | None = None,
        starts: RecordedStarts | None = None,
        homes: str = DEFAULT_HOMES,
        sensors: str = DEPTH,
        device: str = "cuda",
        pool: PoolConfig | None = None,
        seed: int = 0,
    ) -> None:
        """Make the pool, and worlds in none of which an episode has begun.

        Args:
            num_envs: N.
            task: See RearrangeEnv.
            config: Likewise.
            split: Likewise.
            simulator: Settings.
            starts: Recorded start states that are mixed into the pool.
            homes: See RearrangeEnv.
            sensors: Likewise.
            device: "cuda" or "cpu".
            pool: How many start states.
            seed: Decides which.

        Raises:
            UserError: Warp is missing, there is no such device, or what is asked for is not there on one.
        """
        numbers = pool or PoolConfig()
        check_ranges(Many(num_envs=num_envs), "")
        check_ranges(numbers, "pool")
        check_on_device(task, config, simulator or SimulatorConfig(), homes, device)
        maker = Worlds(task, config, split, simulator, 1, starts, None, homes)
        made = make_pool(maker, numbers, seed)
        maker.close()
        worlds = DeviceSimulator(num_envs, made.bank, simulator, device, cores())
        super().__init__(num_envs, PooledWorlds(task, config, split, worlds, made, homes, sensors))
        self.task = self._worlds.task
