"""Images on a device: scenes come and go, some or all cameras draw."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rearrange.errors import UserError
from rearrange.render import Camera, GeomTable, cuda_kernels, look_at, render_depth
from rearrange.render import device as module
from rearrange.render.device import CPU, CUDA, DepthDrawer, check_device
from tests.helpers.cuda_threads import launch
from tests.helpers.render_scenes import random_room

CAMERA = Camera(20, 24, 90)
EYES = np.array([(-1.0, 0.5, 0.0), (1.0, -2.0, 0.3), (0.2, 0.1, 0.1)])
LOOKS = [look_at(eye, (2.0, 1.0, 0.0)) for eye in EYES]
VIEWS = np.array([[*eye, *look.ravel()] for eye, look in zip(EYES, LOOKS, strict=True)])


class Room:
    """A random room, packed."""

    def __init__(self, seed, count):
        self.model, self.data = random_room(seed, count)
        self.table = table = GeomTable.from_model(self.model)
        self.geoms = table.kinds, table.sizes, *self._poses(table.ids)

    def _poses(self, ids):
        return self.data.geom_xpos[ids], self.data.geom_xmat[ids]

    def painted(self, camera):
        pose = self.data.geom_xpos, self.data.geom_xmat, CAMERA, EYES[camera], LOOKS[camera]
        return render_depth(self.table, *pose, far=8.0)


def packed(*rooms):
    """Starts and geoms of rooms, end to end."""
    counts = [len(room.table.ids) for room in rooms]
    geoms = [np.concatenate(parts) for parts in zip(*(r.geoms for r in rooms), strict=True)]
    return np.cumsum([0, *counts]), geoms


def same(images, camera, room):
    found = images[camera, ..., 0].numpy() * 4.0
    return (np.abs(found - room.painted(camera)) > 1e-3).mean() < 0.005


def test_each_camera_sees_its_scene():
    rooms = Room(1, 30), Room(2, 60)
    drawer = DepthDrawer(CPU, 3, CAMERA, 8.0, 4.0)
    drawer.load(*packed(*rooms))
    images = drawer.new_images()
    assert images.shape == (3, 20, 24, 1)
    assert images.dtype == torch.float32
    drawer.draw(images, VIEWS, np.array([1, 0, 1]), 80)
    for camera, room in enumerate((1, 0, 1)):
        assert same(images, camera, rooms[room])
        assert not same(images, camera, rooms[1 - room])


def test_some_are_drawn_and_the_others_left():
    drawer = DepthDrawer(CPU, 3, CAMERA, 8.0, 4.0)
    room = Room(1, 30)
    drawer.load(*packed(room))
    images = drawer.new_images().fill_(-1.0)
    drawer.draw(images, VIEWS, np.zeros(3, np.int64), 40, np.array([2]))
    assert same(images, 2, room)
    assert (images[:2] == -1.0).all()
    drawer.draw(images, VIEWS, np.zeros(3, np.int64), 40, np.zeros(0, np.int64))
    assert (images[:2] == -1.0).all()


def test_a_scene_that_changes_is_taken_alone():
    rooms = Room(1, 30), Room(2, 30)
    drawer = DepthDrawer(CPU, 3, CAMERA, 8.0, 4.0)
    starts, geoms = packed(*rooms)
    drawer.load(starts, geoms)
    images, scenes = drawer.new_images(), np.array([0, 1, 1])
    drawer.draw(images, VIEWS, scenes, 40)
    other = Room(7, 30)
    for column, new in zip(geoms, other.geoms, strict=True):
        column[starts[1] :] = new
        column[: starts[1]] = 0  # not told, so nobody looks
    drawer.load(starts, geoms, [slice(int(starts[1]), int(starts[2]))])
    drawer.draw(images, VIEWS, scenes, 40)
    assert same(images, 0, rooms[0])
    assert same(images, 1, other)


def test_a_larger_scene_gets_room():
    small, large = Room(1, 10), Room(2, 90)
    drawer = DepthDrawer(CPU, 3, CAMERA, 8.0, 4.0)
    images, scenes = drawer.new_images(), np.zeros(3, np.int64)
    for room in (small, large, small):
        drawer.load(*packed(room))
        drawer.draw(images, VIEWS, scenes, len(room.table.ids))
        assert same(images, 1, room)


class Launcher:
    """A compiled kernel that is launched with threads of the host."""

    def __init__(self, kernel, monkeypatch):
        self._kernel, self._patch = kernel, monkeypatch

    def __getitem__(self, how):
        blocks, size, stream = how
        assert stream == "stream of 7"
        blocks, size = (*blocks, 1)[:3], size if isinstance(size, int) else size[0]
        return lambda *arguments: launch(self._patch, self._kernel, blocks, size, *arguments)


@pytest.mark.slow
def test_kernels_are_launched_on_all_cameras_a_part_at_a_time(monkeypatch):
    kernels = cuda_kernels.prepare, cuda_kernels.draw
    launchers = tuple(Launcher(kernel, monkeypatch) for kernel in kernels)
    monkeypatch.setattr(cuda_kernels, "compiled", lambda: launchers)
    monkeypatch.setattr("numba.cuda.external_stream", "stream of {}".format)
    stream = SimpleNamespace(cuda_stream=7)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: stream)
    monkeypatch.setattr(module, "TOGETHER", 2)
    monkeypatch.setattr(module, "PREPARING", 16)
    rooms, scenes = (Room(1, 20), Room(2, 30)), np.array([1, 0, 1])
    drawer = DepthDrawer(CPU, 3, CAMERA, 8.0, 4.0)
    monkeypatch.setattr(drawer, "_loop", lambda ids, images: drawer._launch(ids, images, 40))
    drawer.load(*packed(*rooms))
    images = drawer.new_images()
    for first in (0, 2):  # two, and the one that is left
        drawer.draw(images, VIEWS, scenes, 40, np.arange(first, min(3, first + 2)))
    for camera, room in enumerate((1, 0, 1)):
        assert same(images, camera, rooms[room])


def test_what_is_missing_is_told_in_one_line(monkeypatch):
    check_device(CPU, "key")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^key=cuda needs numba-cuda, .* pip install"):
        check_device(CUDA, "key")
    monkeypatch.setattr(module, "find_spec", lambda name: object())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match=r"^key=cuda: PyTorch finds no CUDA device here$"):
        check_device(CUDA, "key")
