"""Simulators of N worlds side by side: the contract and its default implementation."""

from rearrange.sim.base import (
    CONTROL_STEP,
    NOTHING,
    PHYSICS_STEP,
    SimState,
    Simulator,
)
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.sim.randomisation import Randomisation

__all__ = [
    "CONTROL_STEP",
    "NOTHING",
    "PHYSICS_STEP",
    "MujocoSimulator",
    "Randomisation",
    "SimState",
    "Simulator",
    "SimulatorConfig",
]
