"""Our kernels compile for a GPU where there is none; mujoco-warp's are its own affair."""

from importlib import import_module

import pytest

wp = pytest.importorskip("warp")
pytest.importorskip("mujoco_warp")

HOPPER = 90  # compute capability 9.0


@pytest.mark.parametrize(
    "name",
    [
        *("contact_kernels", "copy_kernels"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("kernels", "floor_kernels")),
    ],
)
def test_kernels_compile_without_a_gpu(name, tmp_path):
    module = import_module(f"rearrange.batched.{name}")
    wp.compile_aot_module(module, arch=HOPPER, module_dir=str(tmp_path), use_ptx=True)
    (code,) = tmp_path.glob("*.ptx")
    assert ".target sm_90" in code.read_text()
