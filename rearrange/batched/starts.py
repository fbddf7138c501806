"""Start states of worlds, made by the simulator on the CPU, stacked to be copied into worlds on a device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rearrange.batched.bank import POSES, Bank
from rearrange.episodes import Episode
from rearrange.errors import UserError
from rearrange.robot import find_robot
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator

# Of MjData; what a step reads, and what it leaves to the next
OF_DATA = (
    *("qpos", "qvel", "qacc_warmstart", "ctrl", "mocap_pos", "mocap_quat"),
    *("tree_asleep", "eq_active", "xpos", "xquat"),
)


@dataclass(frozen=True)
class Starts:
    """S start states.

    Attributes:
        homes: Row in the bank [S].
        data: Of MjData by name [S, ...], and `eq_data` of MjModel, with the grasp in it. What stands still
            is where the bank has it.
        records: Of `world_state` [S].
    """

    homes: np.ndarray
    data: dict[str, np.ndarray]
    records: np.ndarray

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.homes)


def check_config(config: SimulatorConfig, scene: SceneSpec) -> None:
    """Raise a UserError where a setting is not there for worlds on a device."""
    if config.randomise.draw(0, scene) is not None:
        raise UserError("simulator.randomise must be off for homes on a device")
    robot = find_robot(config.robot)
    if robot.fingers is not None:
        raise UserError(
            f"robot '{robot.name}' has fingers, homes on a device know suction cups alone"
        )


def make_starts(simulator: MujocoSimulator, bank: Bank, episodes: Iterable[Episode]) -> Starts:
    """Reset the first world of a simulator to each episode, and note how it stands then."""
    check_config(simulator.config, simulator.scene)
    homes: list[int] = []
    records: list[np.ndarray] = []
    found: dict[str, list[np.ndarray]] = {name: [] for name in (*OF_DATA, *POSES, "eq_data")}
    for episode in episodes:
        simulator.reset([0], [episode])
        homes.append(bank.index_of(episode.layout, episode.variation))
        note(simulator, bank, homes[-1], found)
        records.append(simulator.state.worlds[:1].copy())
    if not homes:
        raise UserError("worlds on a device need at least one start state")
    return Starts(
        np.array(homes),
        {name: np.stack(values) for name, values in found.items()},
        np.concatenate(records),
    )


def note(
    simulator: MujocoSimulator, bank: Bank, home: int, found: dict[str, list[np.ndarray]]
) -> None:
    """Append what the first world of a simulator, in a home of the bank, is like now."""
    world, data = simulator.worlds[0], simulator.data[0]
    assert world is not None
    assert data is not None
    for name in OF_DATA:
        found[name].append(np.array(getattr(data, name)))
    for name in POSES:
        poses = bank.poses[name][home].copy()
        poses[bank.moves] = getattr(data, name)[bank.moves]
        found[name].append(poses)
    found["eq_data"].append(world.model.eq_data.copy())
