"""Depth images that are drawn on a device and stay there, as torch tensors.

On "cuda" each pixel has a thread (`cuda_kernels.py`). On "cpu" the same functions run one pixel after the
other: that is for tests, and slower than the painter.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rearrange.errors import UserError
from rearrange.render.camera import NEAR, Camera
from rearrange.render.pixels import VIEW, WIDTH, draw_pixels, single

Array = NDArray[Any]
CPU, CUDA = "cpu", "cuda"
TOGETHER = (
    32_768  # cameras that one launch draws: a grid of blocks has at most 65,535 along y and z
)
PREPARING = 128  # threads of a block that prepare geoms


def check_device(device: str, key: str) -> None:
    """Raise a UserError of one line where images cannot be drawn on a device.

    Args:
        device: CPU or CUDA.
        key: The setting that asks for it.
    """
    if device == CPU:
        return
    if find_spec("numba_cuda") is None:
        raise UserError(
            f"{key}={device} needs numba-cuda, which is not installed: pip install 'numba-cuda[cu13]'"
        )
    if not torch.cuda.is_available():
        raise UserError(f"{key}={device}: PyTorch finds no CUDA device here")


class DepthDrawer:
    """Draws what N cameras see of packed scenes, on one device.

    Attributes:
        device: Where images are.
        camera: Lens and size of all images.
        unit: In which depth is written [m].
    """

    def __init__(self, device: str, count: int, camera: Camera, far: float, unit: float) -> None:
        """Allocate what N cameras need; there are no geoms yet.

        Args:
            device: CPU or CUDA, of which it is torch's current device.
            count: N.
            camera: See above.
            far: Largest depth that is seen, metres.
            unit: See above.
        """
        self.camera, self.unit = camera, unit
        self.device = torch.device(device)
        if device == CUDA:
            from numba import cuda

            self.device = torch.device(device, torch.cuda.current_device())
            cuda.select_device(self.device.index)
        self._limits = camera.lens(NEAR, far)
        self._lens = self._new(self._limits)
        self._views = self._new(np.zeros((count, VIEW)))
        self._scenes = self._new(np.zeros(count, np.int64))
        self._everyone = self._new(np.arange(count))
        self._starts = self._new(np.zeros(1, np.int64))
        self._geoms: list[Tensor] = []
        self._records = torch.empty((0, 0, WIDTH), dtype=torch.float32, device=self.device)
        self._counts = torch.zeros(count, dtype=torch.int32, device=self.device)
        self._native: dict[str, Any] = {}  # tensors as numba takes them

    def _new(self, values: Array) -> Tensor:
        """A copy of an array on the device."""
        return torch.tensor(values, device=self.device)

    def load(
        self, starts: Array, geoms: Sequence[Array], rows: Sequence[slice] | None = None
    ) -> None:
        """Take scenes; scene s has the geoms starts[s] to starts[s + 1].

        Args:
            starts: [S] int64.
            geoms: Of all scenes: mujoco.mjtGeom [M] int64; half sizes and bounding radii [M, 4], positions
                [M, 3] and world-from-geom rotations [M, 9] float64, metres, world frame.
            rows: Only these geoms have changed, and the starts of some scenes; None: all have, or their number.
        """
        if rows is None:
            self.take(starts, [self._new(each) for each in geoms])
            return
        self.take(starts, self._geoms)
        for held, each in zip(self._geoms, geoms, strict=True):
            for some in rows:
                held[some].copy_(torch.from_numpy(each[some]))

    def take(self, starts: Array, geoms: Sequence[Tensor]) -> None:
        """Take scenes whose geoms are on the device; whoever owns the tensors may write to them.

        Args:
            starts: See `load`.
            geoms: Likewise.
        """
        self._native.clear()
        self._starts = self._new(starts)
        self._geoms = list(geoms)

    def new_images(self) -> Tensor:
        """Uninitialised images of all cameras [N, H, W, 1] float32."""
        shape = len(self._counts), self.camera.height, self.camera.width, 1
        return torch.empty(shape, dtype=torch.float32, device=self.device)

    def draw(
        self,
        images: Tensor,
        views: Array | Tensor,
        scenes: Array | Tensor,
        most: int,
        ids: Array | Tensor | None = None,
    ) -> None:
        """Draw what all cameras see, or some of them.

        Args:
            images: Written: depth along the optical axis in units [N, H, W, 1]; the farthest where nothing is.
            views: Eye and world-from-camera rotation, row by row (right, up, backward), of each [N, VIEW].
            scenes: In which each is [N] int64.
            most: Geoms of the largest of these scenes.
            ids: Which cameras; None: all.
        """
        if ids is not None and not len(ids):
            return
        self._views.copy_(torch.as_tensor(views))
        self._scenes.copy_(torch.as_tensor(scenes))
        if self._records.shape[1] < most:
            self._native.clear()
            size = min(len(self._counts), TOGETHER)
            self._records = torch.empty((size, most, WIDTH), device=self.device)
        some = self._everyone if ids is None else torch.as_tensor(ids, device=self.device)
        if self.device.type == CPU:
            self._loop(some, images)
        else:
            for part in some.split(TOGETHER):
                self._launch(part, images, most)

    def _shared(self) -> list[Any]:
        """What both ways of drawing take as numba wants it, kept until a tensor is another one."""
        if not self._native:
            tensors = self._scenes, self._starts, *self._geoms, self._views, self._lens
            self._native = {"shared": [self._as_native(each) for each in tensors]}
            self._native["records"] = self._as_native(self._records)
            self._native["counts"] = self._as_native(self._counts)
        return self._native["shared"]

    def _as_native(self, tensor: Tensor) -> Any:
        """The memory of a tensor as numba takes it."""
        if self.device.type == CPU:
            return tensor.numpy()
        from numba import cuda

        return cuda.as_cuda_array(tensor, sync=False)

    def _loop(self, ids: Tensor, images: Tensor) -> None:
        shared = self._shared()
        records = self._native["records"][0]
        draw_pixels(*[ids.numpy(), *shared, self.unit, records, images[..., 0].numpy()])

    def _launch(self, ids: Tensor, images: Tensor, most: int) -> None:
        from numba import cuda

        from rearrange.render.cuda_kernels import SIDE, THREADS, compiled

        prepare, draw = compiled()
        shared, records, counts = self._shared(), self._native["records"], self._native["counts"]
        some, height, width = self._as_native(ids), self.camera.height, self.camera.width
        # All on torch's stream: what it does before and behind waits for nothing else
        stream = cuda.external_stream(torch.cuda.current_stream(self.device).cuda_stream)
        self._counts.zero_()
        blocks = -(-most // PREPARING), len(ids)
        prepare[blocks, (PREPARING, 1), stream](some, *shared, width, height, records, counts)
        near, far = single(self._limits[2]), single(self._limits[3])
        tiles = -(-width // SIDE), -(-height // SIDE), len(ids)
        scale, depth = single(1.0 / self.unit), self._as_native(images[..., 0])
        draw[tiles, THREADS, stream](some, records, counts, near, far, scale, depth)
