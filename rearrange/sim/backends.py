"""The simulators by name; one that is not asked for is not imported."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module

from rearrange.errors import check_choice
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.base import Simulator
from rearrange.sim.config import SimulatorConfig

SIMULATORS = {  # name -> module and class
    "mujoco": ("rearrange.sim.mujoco", "MujocoSimulator"),
    "habitat": ("rearrange.habitat.simulator", "HabitatSimulator"),
}


def check_simulator_name(name: str, names: Collection[str] = SIMULATORS) -> str:
    """Return the name of a simulator or raise a UserError that lists those that may be chosen."""
    return check_choice("simulator", name, names)


def make_simulator(
    name: str = "mujoco",
    world_count: int = 1,
    config: SimulatorConfig | None = None,
    scene: SceneSpec = APARTMENT,
    threads: int = 1,
) -> Simulator:
    """A new simulator of homes of a kind; threads share its worlds where it can do that.

    Raises:
        UserError: There is none of that name, what it needs is not installed, or it knows no such homes.
    """
    module, kind = SIMULATORS[check_simulator_name(name)]
    return getattr(import_module(module), kind)(world_count, config, scene, threads)
