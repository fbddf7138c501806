"""The CUDA kernels: they compile for an H100 where there is none, and give the CPU's image."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from rearrange.render import Camera, GeomTable, cuda_kernels, look_at
from rearrange.render.pixels import WIDTH, draw_pixels, single
from tests.helpers import ROOT
from tests.helpers.cuda_threads import launch
from tests.helpers.render_scenes import random_room


def test_kernels_draw_what_the_loop_draws(monkeypatch):
    """Two of three cameras, an image that no tile fits, and more geoms than a block has threads."""
    model, data = random_room(3, count=160)
    table, camera, rng = GeomTable.from_model(model), Camera(10, 13, 90), np.random.default_rng(0)
    eyes = rng.uniform(-3.0, 3.0, (3, 3)) * (1, 1, 0.2)
    views = np.array([[*eye, *look_at(eye, (0.0, 0.0, 0.0)).ravel()] for eye in eyes])
    ids, scenes, count = np.array([2, 0]), np.zeros(3, np.int64), len(table.ids)
    own = [np.ascontiguousarray(each[table.ids]) for each in (data.geom_xpos, data.geom_xmat)]
    shared = scenes, np.array([0, count]), table.kinds, table.sizes, *own, views, camera.lens()
    wanted = np.full((3, 10, 13), -1.0, np.float32)
    draw_pixels(ids, *shared, 2.0, np.empty((count, WIDTH), np.float32), wanted)

    records, counts = np.full((2, count, WIDTH), np.nan, np.float32), np.zeros(2, np.int32)
    size = 32
    blocks = -(-count // size), len(ids), 1
    arguments = ids, *shared, 13, 10, records, counts
    launch(monkeypatch, cuda_kernels.prepare, blocks, size, *arguments)
    assert 64 < counts.max() < count  # more than a block has threads; some are behind the camera
    for name, value in (("SIDE", 8), ("THREADS", 64)):  # threads of the host are slow
        monkeypatch.setattr(cuda_kernels, name, value)
    drawn = np.full_like(wanted, -1.0)
    limits = single(camera.lens()[2]), single(camera.lens()[3]), single(0.5)
    launch(monkeypatch, cuda_kernels.draw, (2, 2, 2), 64, ids, records, counts, *limits, drawn)
    np.testing.assert_allclose(drawn, wanted, rtol=1e-6)
    assert (drawn[1] == -1.0).all()


@pytest.fixture(scope="module")
def ptx():
    """Assembler of both kernels for an H100."""
    pytest.importorskip("numba_cuda")
    from numba import cuda, types

    patch = pytest.MonkeyPatch()
    # Who compiles for a GPU that is not there has none to ask for its version
    here = SimpleNamespace(compute_capability=(9, 0))
    patch.setattr("numba.cuda.dispatcher.get_current_device", lambda: here)
    f4, f8, i4, i8 = types.float32, types.float64, types.int32, types.int64
    rows, vector, records = f8[:, ::1], i8[::1], f4[:, :, ::1]
    signatures = {
        "prepare": (
            *(vector, vector, vector, vector, rows, rows, rows, rows, f8[::1]),
            *(i8, i8, records, i4[::1]),
        ),
        "draw": (vector, records, i4[::1], f4, f4, f4, f4[:, :, ::1]),
    }
    found = {}
    for name, signature in signatures.items():
        kernel = getattr(cuda_kernels, name)
        found[name] = cuda.compile_ptx(kernel, signature, cc=(9, 0), fastmath=name == "draw")[0]
    patch.undo()
    return found


@pytest.mark.slow
def test_both_compile_without_a_gpu(ptx):
    for text in ptx.values():
        assert ".target sm_90" in text
        assert "call" not in text  # all is inlined


@pytest.mark.slow
def test_a_pixel_takes_single_precision(ptx):
    assert ".f64" in ptx["prepare"]
    assert ".f64" not in ptx["draw"]
    assert ".local" not in ptx["draw"]


@pytest.mark.slow
def test_numba_cuda_finds_what_numpy_has_dropped():
    """NumPy 2.5 has no row_stack, which numba-cuda looks up when it compiles."""
    script = (
        "import numpy; vars(numpy).pop('row_stack', None); import rearrange.render.cuda_kernels; "
    )
    subprocess.run([sys.executable, "-c", script + "numpy.row_stack([1])"], check=True, cwd=ROOT)
