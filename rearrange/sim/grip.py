"""How a hand takes, holds and lets go: what a simulator asks of a suction cup or of fingers."""

from __future__ import annotations

from typing import Protocol

import mujoco

from rearrange.sim.apartment_model import ApartmentModel
from rearrange.sim.free_robot import FreeRobot
from rearrange.sim.views import WorldViews


class Grip(Protocol):
    """The grasps of N worlds. It alone writes `held_object` and `held_handle` of the state."""

    def reset(self, i: int, world: ApartmentModel, data: mujoco.MjData) -> None:
        """Let go of everything, at the start of an episode."""
        ...

    def put_into_hand(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews, slot: int,
        grasp: tuple[float, ...] | None,
    ) -> None:  # fmt: skip
        """Hold an object from the start on.

        Args:
            i: World.
            world: Its apartment.
            data: Its physics.
            views: Of the data.
            slot: Of the object.
            grasp: Its pose in the end effector's frame [7]; None: one that suits it.

        Raises:
            UserError: The hand cannot hold it so.
        """
        ...

    def begin_step(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews, change: int,
        holds: bool,
    ) -> None:  # fmt: skip
        """Do what an action asks for.

        Args:
            i: World.
            world: Its apartment.
            data: Its physics.
            views: Of the data.
            change: What a cup has to do, see `kernels.begin_step`.
            holds: The action says hold or try to grasp, not let go.
        """
        ...

    def end_step(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, touching: bool, slipped: bool
    ) -> None:
        """Find out what is held now, and write `hold_violated`.

        Args:
            i: World.
            world: Its apartment.
            data: Its physics.
            touching: Whether there may be contacts.
            slipped: An object that was held is farther from the tip than `hold_threshold`.
        """
        ...

    def passes(self, i: int) -> int:
        """Slot of what does not touch the robot now, or NOTHING."""
        ...

    def free_robot(self, i: int, views: WorldViews) -> FreeRobot | None:
        """The model that may step in the apartment's place while nothing is near; None: there is none."""
        ...
