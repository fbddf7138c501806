"""Two fingers: they close and open, and what is between them is held by friction or not."""

from __future__ import annotations

import mujoco
import numpy as np

from rearrange.errors import UserError
from rearrange.robot.fingers import HOLD_FORCE, HOLD_STEPS
from rearrange.sim.apartment_model import ApartmentModel
from rearrange.sim.base import NOTHING, SimState
from rearrange.sim.contacts import grasped_object
from rearrange.sim.free_robot import FreeRobot
from rearrange.sim.views import WorldViews


class FingerGrip:
    """The fingers of N worlds; see rearrange.sim.grip.

    Nothing here moves an object: `held_object` only tells what MuJoCo's contacts do. It is what both fingers
    have pressed on with HOLD_FORCE for HOLD_STEPS, and stays it for as long as both touch it.
    """

    def __init__(self, state: SimState) -> None:
        """Hold nothing; `state` is the simulator's."""
        self.state = state
        fingers = state.robot.fingers
        assert fingers is not None
        self._fingers = fingers
        count = len(state.robot.joints)
        self._motors = slice(count, count + 2)  # in MjData.ctrl
        self._pressed = np.zeros((len(state.worlds), 2, len(state.scene.objects)))  # [N]
        self._candidates = np.full(
            len(state.worlds), NOTHING
        )  # what both pressed on in the last step
        self._pressing = np.zeros(len(state.worlds), int)  # steps for which they have [N]
        self._closes = np.zeros(len(state.worlds), bool)

    def reset(self, i: int, world: ApartmentModel, data: mujoco.MjData) -> None:
        """Open the fingers."""
        first = world.arm_qpos + len(self.state.robot.joints)
        data.qpos[first : first + 2] = data.ctrl[self._motors] = self._fingers.travel
        self.state.held_object[i] = self.state.held_handle[i] = NOTHING
        self._closes[i], self._candidates[i], self._pressing[i] = False, NOTHING, 0

    def put_into_hand(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews, slot: int,
        grasp: tuple[float, ...] | None,
    ) -> None:  # fmt: skip
        """Refuse to: fingers have to take what they hold."""
        del i, data, views, grasp
        raise UserError(
            f"robot '{self.state.robot.name}' cannot begin with {world.scene.objects[slot].name} in its "
            "hand: of the tasks of objects its fingers do pick; take robot 'fetch' for the others"
        )

    def begin_step(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews, change: int,
        holds: bool,
    ) -> None:  # fmt: skip
        """Close the fingers, or open them."""
        del world, views, change
        self._closes[i] = holds
        data.ctrl[self._motors] = 0.0 if holds else self._fingers.travel

    def end_step(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, touching: bool, slipped: bool
    ) -> None:
        """Read from the contacts what is held; it was lost where closed fingers hold it no more."""
        del slipped
        before = int(self.state.held_object[i])
        slot, force = NOTHING, 0.0
        if touching:
            contact = data.contact
            slot, force = grasped_object(
                data.ncon, contact.geom, contact.efc_address, data.efc_force, world.roles,
                world.taker_geoms, self._pressed[i],
            )  # fmt: skip
        pressed = slot if force >= HOLD_FORCE else NOTHING
        again = pressed != NOTHING and pressed == self._candidates[i]
        self._pressing[i] = self._pressing[i] + 1 if again else 1
        self._candidates[i] = pressed
        taken = pressed != NOTHING and self._pressing[i] >= HOLD_STEPS
        held = slot if taken or slot == before else NOTHING
        self.state.held_object[i] = held
        self.state.hold_violated[i] = bool(
            self._closes[i] and before != NOTHING and held == NOTHING
        )

    def passes(self, i: int) -> int:
        """Nothing passes through fingers."""
        del i
        return NOTHING

    def free_robot(self, i: int, views: WorldViews) -> FreeRobot | None:
        """The robot alone while it holds nothing: what it holds is held by contacts, which that has not."""
        return views.free_robot if self.state.held_object[i] == NOTHING else None
