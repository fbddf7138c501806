"""N homes on one device, each its own, stepped together by mujoco-warp.

A control step is a list of kernel launches: base and suction cup, four substeps of physics, and what tasks
may know. On a GPU it is captured once as a CUDA graph and launched as a whole; elsewhere the same kernels are
launched one by one. Nothing comes to the host unless it is asked for.
"""

# pyright: reportGeneralTypeIssues=false
# Warp's structs are no classes to it
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco_warp as mjw  # pyright: ignore[reportMissingImports]
import numpy as np
import warp as wp  # pyright: ignore[reportMissingImports]
from mujoco_warp._src.sleep import update_sleep  # pyright: ignore[reportMissingImports]

from rearrange.batched import contact_kernels, kernels
from rearrange.batched.bank import Bank
from rearrange.batched.contact_kernels import PEAKS
from rearrange.batched.copy_kernels import copy_rows, flat
from rearrange.batched.memory import bind_body, bind_contacts, floors_of, own_memory, topology
from rearrange.batched.records import Records, Rules
from rearrange.batched.starts import Starts
from rearrange.errors import UserError
from rearrange.robot import RobotSpec
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.kernels import SUBSTEP_COUNT

# Of mujoco-warp's overflows those that PEAKS do not tell of
LACKING = int(mjw.OverflowType.NJMAX_NNZ | mjw.OverflowType.CCD | mjw.OverflowType.EPA_HORIZON)
Pool = list[tuple[Any, Any]]  # rows that worlds can be given on the device, and where they go
FEWEST_CONTACTS = 1024  # of all worlds together: few worlds may all be in clutter at once


@dataclass(frozen=True)
class Capacities:
    """Room for what a world may have; more ends the run.

    Attributes:
        contacts: On average of all worlds: also pairs of things whose boxes overlap.
        rows: Of constraints, most that any world may have.
        dofs: Degrees of freedom that are awake, likewise.
    """

    contacts: int = 48
    rows: int = 256
    dofs: int = 48


class BatchedPhysics:
    """N homes on one device.

    Attributes:
        count: N.
        records: What tasks may know.
    """

    def __init__(
        self,
        bank: Bank,
        count: int,
        config: SimulatorConfig,
        robot: RobotSpec,
        device: str = "cuda",
        capacities: Capacities | None = None,
    ) -> None:
        """Allocate N worlds, in none of which anything is yet: reset them all.

        Args:
            bank: The homes.
            count: N.
            config: Settings of the simulator.
            robot: Who acts.
            device: "cuda", "cuda:1" and so on, or "cpu".
            capacities: How much room worlds have.

        Raises:
            UserError: There is no such device.
        """
        self.count, self.capacities = count, capacities or Capacities()
        self.device = find_device(device)
        self._graph: Any = None
        self._is_warm = False
        self._stall = config.stall
        with wp.ScopedDevice(self.device):
            self._model = mjw.put_model(bank.model)
            self._model.opt.warn_overflow = 0  # it is counted instead
            # Boxes meet boxes as in MuJoCo, by its own function for them
            self._model.opt.disableflags |= mjw.DisableBit.NATIVECCD
            self._allocate(bank)
            self.records = Records(count, robot, bank.first.scene, self.device)
            self._seen = self.records.seen
            self._own = own_memory(count, robot, bank.first.scene)
            self._at = topology(bank.first, robot)
            self._rules = _rules(config, robot)
            self._floors = floors_of(bank)
            self._body = bind_body(self._model, self._data)
            self._contacts = bind_contacts(self._data)
            self._action = wp.zeros((count, len(robot.joints) + 3), dtype=wp.float64)
            self._which = wp.full(count, -1, dtype=wp.int32)
            self._of_homes = self._of_bank(bank)
        self._model.callback.contactfilter = self._leave_out

    def _allocate(self, bank: Bank) -> None:
        """Make MjData of all worlds, and rows for each in the model's arrays that differ."""
        room, count = self.capacities, self.count
        self._data = mjw.make_data(
            bank.model,
            nworld=count,
            naconmax=max(room.contacts * count, FEWEST_CONTACTS),
            njmax=room.rows,
            nvmax=min(room.dofs, bank.model.nv),
        )
        for name in (*bank.fields, "eq_data"):
            old = getattr(self._model, name)
            if len(old) != 1:  # one for all worlds
                raise UserError(
                    f"homes of a bank must have the same {name}: mujoco-warp has one for all"
                )
            setattr(self._model, name, wp.zeros((count, *old.shape[1:]), dtype=old.dtype))

    # --- resets --------------------------------------------------------------------------------------

    def upload(self, starts: Starts) -> Pool:
        """Copy start states to the device, for `reset`."""
        pairs: list[tuple[np.ndarray, Any]] = [
            (starts.records.view(np.uint8).reshape(len(starts), -1), self.records.bytes)
        ]
        targets = {"eq_data": self._model.eq_data}
        for name, values in starts.data.items():
            pairs.append((values, targets.get(name, getattr(self._data, name, None))))
        pairs.append((starts.data["ctrl"].astype(np.float64), self._own.targets))
        pairs.append((starts.homes.astype(np.int32), self._own.home))
        with wp.ScopedDevice(self.device):
            return [self._pair(values, target) for values, target in pairs]

    def _of_bank(self, bank: Bank) -> Pool:
        """Arrays of the homes on the device, and where each goes."""
        pairs = [(values, getattr(self._model, name)) for name, values in bank.fields.items()]
        return [self._pair(values, target) for values, target in pairs]

    def _pair(self, values: np.ndarray, target: Any) -> tuple[Any, Any]:
        """A source [S, width] of the target's type, and the target as [N, width]."""
        target = flat(target, self.count)
        values = values.reshape(len(values), -1).astype(wp.dtype_to_numpy(target.dtype))
        wide = np.zeros((len(values), target.shape[1]), values.dtype)
        wide[:, : values.shape[1]] = values  # equalities have a number less in MuJoCo
        return wp.array(wide, dtype=target.dtype), target

    def reset(self, worlds: Sequence[int], pool: Pool, rows: Sequence[int]) -> None:
        """Put worlds into these of the start states that were copied; other worlds stay as they are."""
        which = np.full(self.count, -1, np.int32)
        which[np.asarray(worlds)] = rows
        self._which.assign(which)
        with wp.ScopedDevice(self.device):
            self._copy(pool, self._which)
            homes = wp.empty_like(self._which)
            self._launch(kernels.home_of, self._which, self._own.home, homes)
            self._copy(self._of_homes, homes)
            self._launch(
                kernels.begin_episode, self._which, self._seen, self._own, self._body, self._at
            )
            update_sleep(self._model, self._data)

    def _copy(self, pool: Pool, rows: Any) -> None:
        for source, target in pool:
            wp.launch(copy_rows, dim=target.shape, inputs=[rows, source, target])

    # --- steps ---------------------------------------------------------------------------------------

    def step(self, action: Any) -> None:
        """Advance all worlds by an action [N, J + 3] in physical units, of NumPy or of Warp on the device."""
        with wp.ScopedDevice(self.device):
            if isinstance(action, np.ndarray):
                self._action.assign(action)
            else:
                wp.copy(self._action, action)
            if self._graph is not None:
                wp.capture_launch(self._graph)
            elif self._is_warm and self.device.is_cuda:
                with wp.ScopedCapture() as capture:
                    self._launch_step()
                self._graph = capture.graph
                wp.capture_launch(self._graph)
            else:  # the first step loads what the graph is made of
                self._launch_step()
                self._is_warm = True

    def _launch(self, kernel: Any, *inputs: Any, dim: Any = None) -> None:
        wp.launch(kernel, dim=dim or self.count, inputs=list(inputs))

    def _launch_step(self) -> None:
        """Launch the kernels of a control step."""
        seen, own, body, at, rules = self._seen, self._own, self._body, self._at, self._rules
        self._launch(kernels.begin, self._action, seen, own, body, at, rules, self._floors)
        for _ in range(SUBSTEP_COUNT):
            self._launch(kernels.move_base, seen, own, body, at)
            mjw.step(self._model, self._data)
            self._launch(contact_kernels.note_peaks, self._contacts, own)
            if self._stall:
                self._feel(contact_kernels.feel_push, seen, own, at)
                self._launch(kernels.yield_base, seen, own, body, at, rules)
        self._look(False)
        if self._stall:  # where the base was put back, MuJoCo's poses are those after it
            mjw.kinematics(self._model, self._data)
            self._look(True)
        self._feel(contact_kernels.feel_depth, seen, own, at, rules)
        self._feel(contact_kernels.feel_touch, seen, own, at)
        self._launch(kernels.finish, seen, own, body, at)

    def _feel(self, kernel: Any, *inputs: Any) -> None:
        self._launch(kernel, self._contacts, *inputs, dim=self._data.naconmax)

    def _look(self, again: bool) -> None:
        seen, own, body, at = self._seen, self._own, self._body, self._at
        self._launch(kernels.look, again, seen, own, body, at, self._rules)
        slots = (self.count, len(at.object_trees))
        self._launch(kernels.look_at_objects, again, seen, own, body, at, dim=slots)

    def _leave_out(self, model: Any, data: Any) -> None:
        del model, data
        self._feel(contact_kernels.leave_out, self._own, self._at)

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions [N, G, 3] and rotations [N, G, 3, 3] of all geoms on the host, single precision.

        What is only seen in a home is far below its floor, and the rest as the last step's poses.
        """
        return self._data.geom_xpos.numpy(), self._data.geom_xmat.numpy()

    def geom_poses(self) -> tuple[Any, Any]:
        """As `poses`, on the device: torch tensors that are those of the physics itself."""
        return wp.to_torch(self._data.geom_xpos), wp.to_torch(self._data.geom_xmat)

    # --- limits --------------------------------------------------------------------------------------

    def peaks(self) -> dict[str, int]:
        """The most that there ever was: rows and dofs of one world, contacts and pairs of all together."""
        return dict(zip(PEAKS, (int(x) for x in self._own.peaks.numpy()), strict=True))

    def check(self) -> None:
        """Raise a UserError where there was no room for what was needed: what was simulated is wrong then."""
        together, peaks = self._data.naconmax, self.peaks()
        lacking = self._data.overflow.numpy() & LACKING
        for name, room, field in (
            ("rows", self.capacities.rows, "rows"),
            ("dofs", self._data.nvmax, "dofs"),
            ("contacts", together, "contacts"),
            ("pairs", together, "contacts"),
        ):
            if peaks[name] > room:
                shared = field == "contacts"  # by all worlds
                needed = -(-peaks[name] // self.count) if shared else peaks[name]
                raise UserError(
                    f"capacities.{field}={getattr(self.capacities, field)} is too little for {self.count} "
                    f"worlds: raise it to {needed + needed // 4} or more"
                )
        if lacking.any():
            kinds = mjw.OverflowType(int(np.bitwise_or.reduce(lacking)))
            raise UserError(
                f"mujoco-warp ran out of room ({kinds!r}): raise capacities.rows and .contacts"
            )

    def synchronise(self) -> None:
        """Wait until all that was asked for is done."""
        wp.synchronize_device(self.device)


def _rules(config: SimulatorConfig, robot: RobotSpec) -> Rules:
    rules = Rules()
    rules.slide, rules.stall, rules.scene_force = config.slide, config.stall, config.scene_force
    rules.hold_threshold, rules.radius = config.hold_threshold, robot.base.radius
    rules.drive_force, rules.turn_torque = robot.base.drive_force, robot.base.turn_torque
    rules.lead = wp.array(config.target_lead * robot.units, dtype=wp.float64)
    rules.limits = wp.array(robot.limits, dtype=wp.float64)
    return rules


def find_device(name: str) -> Any:
    """Return Warp's device of this name, or raise a UserError that lists those that there are."""
    wp.config.log_level = wp.LOG_WARNING
    wp.init()
    try:
        return wp.get_device(name)
    except Exception:
        there = ", ".join(device.alias for device in wp.get_devices())
        raise UserError(f"device={name}: there is no such device here, but {there}") from None
