"""The motion of N robots by MuJoCo on the CPU, in one call that shares them among threads."""

from __future__ import annotations

from typing import Any, Protocol

import mujoco
import numpy as np
import torch
from mujoco.rollout import Rollout
from torch import Tensor

from locomotion.robots import Body

_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
_PUSHED = mujoco.mjtState.mjSTATE_CTRL.value | mujoco.mjtState.mjSTATE_XFRC_APPLIED.value
_WITH_SCENERY = (
    _PUSHED | mujoco.mjtState.mjSTATE_MOCAP_POS.value | mujoco.mjtState.mjSTATE_MOCAP_QUAT.value
)


class Physics(Protocol):
    """N robots that move, on some device.

    Attributes:
        qpos: [N, 7 + J] float32, as MuJoCo has them; valid until the next step.
        qvel: [N, 6 + J].
        touch: [N, F] forces in the soles [N], of one timestep before.
    """

    qpos: Tensor
    qvel: Tensor
    touch: Tensor

    def step(self, actions: Tensor, push: Tensor, things: Tensor | None = None) -> None:
        """Moves all by a frame.

        Args:
            actions: [N, J], of the motors, within [-1, 1].
            push: [N, 3] force on the torso, in the world's frame [N].
            things: [N, K, 7] positions [m] and quaternions (w, x, y, z) of the scenery's bodies, which stay
                there until they are told again; None where there is none, or nothing has moved.
        """
        ...

    def restart(self, which: Tensor, qpos: Tensor, qvel: Tensor) -> None:
        """Puts K robots elsewhere.

        Args:
            which: [K] their numbers.
            qpos: [K, 7 + J].
            qvel: [K, 6 + J].
        """
        ...

    def close(self) -> None:
        """Frees what it holds; safe to call twice."""
        ...


class CpuPhysics:
    """See `Physics`. The result is the same for any number of threads.

    Args:
        body: The robot.
        count: N.
        substeps: Timesteps in a frame.
        threads: That share the robots.
    """

    def __init__(self, body: Body, count: int, substeps: int, threads: int = 1) -> None:
        model = self._model = body.model
        self._models = [model] * count
        self._torso, self._substeps = body.torso, substeps
        self._data = [mujoco.MjData(model) for _ in range(max(1, threads))]
        self._rollout = Rollout(nthread=threads if threads > 1 else 0)
        size = mujoco.mj_stateSize(model, _STATE)
        self._state = np.zeros((count, size))
        self._states = np.zeros((count, substeps, size))
        self._sensors = np.zeros((count, substeps, model.nsensordata))
        # Motors, and after them a force and a torque for each body, positions and quaternions of scenery; the
        # same in all timesteps of a frame
        begin, things = model.nu + 6 * model.nbody, model.nmocap
        self._control = np.zeros((count, substeps, begin + 7 * things))
        self._places = slice(begin, begin + 3 * things)
        self._turns = slice(begin + 3 * things, begin + 7 * things)
        self._control[..., self._turns] = np.tile([1.0, 0.0, 0.0, 0.0], things)
        mujoco.mj_getState(model, self._data[0], self._state[0], _STATE)
        self._state[:] = self._state[0]
        self._qpos = slice(1, 1 + model.nq)  # behind the time
        self._qvel = slice(1 + model.nq, 1 + model.nq + model.nv)
        self.touch = torch.zeros(count, model.nsensordata)
        self._read()

    def step(self, actions: Tensor, push: Tensor, things: Tensor | None = None) -> None:
        """See `Physics`."""
        begin = self._model.nu + 6 * self._torso
        self._control[:, :, : self._model.nu] = actions.numpy()[:, None]
        self._control[:, :, begin : begin + 3] = push.numpy()[:, None]
        if things is not None:
            self._control[:, :, self._places] = things[..., :3].flatten(1).numpy()[:, None]
            self._control[:, :, self._turns] = things[..., 3:].flatten(1).numpy()[:, None]
        self._rollout.rollout(
            self._models,
            self._data,
            self._state,
            self._control,
            control_spec=_WITH_SCENERY if self._model.nmocap else _PUSHED,
            skip_checks=True,
            nstep=self._substeps,
            state=self._states,
            sensordata=self._sensors,
        )
        self._state[:] = self._states[:, -1]
        self.touch = torch.from_numpy(self._sensors[:, -1].astype(np.float32))
        self._read()

    def restart(self, which: Tensor, qpos: Tensor, qvel: Tensor) -> None:
        """See `Physics`."""
        rows = which.numpy()
        self._state[rows, self._qpos] = qpos.numpy()
        self._state[rows, self._qvel] = qvel.numpy()
        self.touch[which] = 0.0
        self._read()

    def close(self) -> None:
        """See `Physics`."""
        self._rollout.close()

    def _read(self) -> None:
        self.qpos = torch.from_numpy(self._state[:, self._qpos].astype(np.float32))
        self.qvel = torch.from_numpy(self._state[:, self._qvel].astype(np.float32))


def make_physics(body: Body, count: int, substeps: int, threads: int, device: str) -> Any:
    """Makes the physics of a device: MuJoCo's of the CPU, or mujoco-warp's.

    Raises:
        UserError: mujoco-warp is missing, or the device is.
    """
    if device == "cpu":
        return CpuPhysics(body, count, substeps, threads)
    from locomotion.warp_physics import WarpPhysics

    return WarpPhysics(body, count, substeps, device)
