"""The simulators by name; one that is not asked for is not imported."""

from __future__ import annotations

from rearrange.errors import UserError
from rearrange.sim.base import Simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator

SIMULATORS = ("mujoco", "habitat")


def check_simulator_name(name: str) -> str:
    """Return the name of a simulator or raise a UserError that lists those that exist."""
    if name not in SIMULATORS:
        raise UserError(f"unknown simulator '{name}': choose one of {', '.join(SIMULATORS)}")
    return name


def make_simulator(
    name: str = "mujoco", world_count: int = 1, config: SimulatorConfig | None = None
) -> Simulator:
    """A new simulator.

    Raises:
        UserError: There is none of that name, or what it needs is not installed.
    """
    if check_simulator_name(name) == "habitat":
        from rearrange.sim.habitat import HabitatSimulator

        return HabitatSimulator(world_count, config)
    return MujocoSimulator(world_count, config)
