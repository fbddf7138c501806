"""The motion of N robots by mujoco-warp, on a GPU: see `locomotion.physics.Physics`.

mujoco-warp 4.0.0 and warp-lang 1.19.0, installed with `--no-deps`: plain pip would bring a second MuJoCo.
Tensors are Warp's own arrays; nothing comes to the host. Only here is Warp imported.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from locomotion.robots import Body
from ver.errors import UserError

INSTALL = "pip install --no-deps warp-lang==1.19.0 mujoco-warp==4.0.0"
ROWS_OF_CONTACT = 3  # one along the normal, two across


class WarpPhysics:
    """See `Physics`. There is room for all contacts that there can be on a floor, so none is ever left out.

    With scenery there is room for `Scenery.met` things at each geom; mujoco-warp leaves out more, and says so.

    Args:
        body: The robot.
        count: N.
        substeps: Timesteps in a frame.
        device: cuda, cuda:1 and so on, or warp-cpu for Warp on the CPU, which is for tests.

    Raises:
        UserError: mujoco-warp is not installed, or there is no such device.
    """

    def __init__(self, body: Body, count: int, substeps: int, device: str) -> None:
        try:
            import mujoco_warp  # pyright: ignore[reportMissingImports]
            import warp  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise UserError(f"mujoco-warp cannot be imported: {error}; {INSTALL}") from error
        warp.config.log_level = warp.LOG_WARNING
        self._warp, self._mujoco_warp = warp, mujoco_warp
        self._device = _device(warp, "cpu" if device == "warp-cpu" else device)
        self._substeps, self._torso = substeps, body.torso
        self._graph: Any = None
        self._warm = False
        joints = len(body.ranges)
        with warp.ScopedDevice(self._device):
            self._model = mujoco_warp.put_model(body.model)
            self._data = mujoco_warp.make_data(
                body.model,
                nworld=count,
                nconmax=body.contacts,
                njmax=ROWS_OF_CONTACT * body.contacts + joints,
            )
        names = ("qpos", "qvel", "ctrl", "xfrc_applied", "sensordata", "qacc_warmstart")
        names += ("mocap_pos", "mocap_quat") if body.model.nmocap else ()
        self._arrays: dict[str, Tensor] = {
            name: warp.to_torch(getattr(self._data, name)) for name in names
        }
        self._read()

    def step(self, actions: Tensor, push: Tensor, things: Tensor | None = None) -> None:
        """See `Physics`."""
        self._arrays["ctrl"].copy_(actions)
        self._arrays["xfrc_applied"][:, self._torso, :3] = push
        if things is not None:
            self._arrays["mocap_pos"].copy_(things[..., :3])
            self._arrays["mocap_quat"].copy_(things[..., 3:])
        # As on the CPU, where each frame begins without the accelerations of the one before
        self._arrays["qacc_warmstart"].zero_()
        warp = self._warp
        with warp.ScopedDevice(self._device):
            if self._graph is not None:
                warp.capture_launch(self._graph)
            elif self._warm and self._device.is_cuda:
                with warp.ScopedCapture() as capture:
                    self._launch()
                self._graph = capture.graph
                warp.capture_launch(self._graph)
            else:  # the first frame loads what the graph is made of
                self._launch()
                self._warm = True
        self._read()

    def restart(self, which: Tensor, qpos: Tensor, qvel: Tensor) -> None:
        """See `Physics`."""
        self._arrays["qpos"][which] = qpos
        self._arrays["qvel"][which] = qvel
        self._arrays["sensordata"][which] = 0.0
        self._read()

    def close(self) -> None:
        """See `Physics`: memory goes with the object."""
        self._graph = None

    def _launch(self) -> None:
        for _ in range(self._substeps):
            self._mujoco_warp.step(self._model, self._data)

    def _read(self) -> None:
        self.qpos, self.qvel = self._arrays["qpos"].clone(), self._arrays["qvel"].clone()
        self.touch = self._arrays["sensordata"].clone()


def _device(warp: Any, name: str) -> Any:
    """Warp's device of that name.

    Raises:
        UserError: It is not there.
    """
    if name != "cpu" and not torch.cuda.is_available():
        raise UserError(f"device={name}: there is no CUDA device; choose device=cpu")
    warp.init()
    try:
        return warp.get_device(name)
    except Exception:
        there = ", ".join(device.alias for device in warp.get_devices())
        raise UserError(f"device={name}: there is no such device here, but {there}") from None
