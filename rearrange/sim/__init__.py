"""Simulators of N worlds side by side: the contract, its default implementation, its conformance test."""

from rearrange.sim.base import (
    CONTROL_STEP,
    NOTHING,
    OBJECT_SLOT_COUNT,
    PHYSICS_STEP,
    SimState,
    Simulator,
)
from rearrange.sim.conformance import check_simulator
from rearrange.sim.mujoco import MujocoSimulator, SimulatorConfig

__all__ = [
    "CONTROL_STEP",
    "NOTHING",
    "OBJECT_SLOT_COUNT",
    "PHYSICS_STEP",
    "MujocoSimulator",
    "SimState",
    "Simulator",
    "SimulatorConfig",
    "check_simulator",
]
