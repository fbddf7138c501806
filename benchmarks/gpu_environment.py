"""`python -m benchmarks.gpu_environment`: this machine, its GPU as the driver and torch tell it, packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import torch
from torch.cuda import nccl

from rearrange.command_line import OneLineParser, output_file
from rearrange.threads import processors
from skills.command import run_command
from skills.provenance import made, write_result

ASKED = (
    *("name", "driver_version", "memory.total", "memory.used", "power.limit", "compute_mode"),
    *("mig.mode.current", "clocks.max.sm", "clocks.max.memory", "pcie.link.gen.current"),
    *("pcie.link.width.current",),
)
PACKAGES = (
    *("numpy", "numba", "numba-cuda", "scipy", "gymnasium", "mujoco-core", "omegaconf"),
    *("safetensors", "triton", "warp-lang", "mujoco-warp", "nvidia-nccl-cu13", "nvidia-cudnn-cu13"),
)
COPIED_BYTES = 2**28


def asked_of_the_driver() -> dict[str, str]:
    """Asks nvidia-smi about the first GPU; empty where there is none."""
    if shutil.which("nvidia-smi") is None:
        return {}
    command = ["nvidia-smi", f"--query-gpu={','.join(ASKED)}", "--format=csv,noheader", "--id=0"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    return dict(zip(ASKED, told.stdout.strip().split(", "), strict=False))


def packages() -> dict[str, str]:
    """Versions of what is installed of PACKAGES."""
    there = {each.metadata["Name"]: each.version for each in metadata.distributions()}
    return {name: there[name] for name in PACKAGES if name in there}


def of_torch() -> dict[str, Any]:
    """Asks torch about itself and the first GPU."""
    found: dict[str, Any] = {"version": torch.__version__, "cuda": torch.version.cuda}
    if not torch.cuda.is_available():
        return found
    properties = torch.cuda.get_device_properties(0)
    return found | {
        "gpus": torch.cuda.device_count(),
        "capability": list(torch.cuda.get_device_capability(0)),
        "multiprocessors": properties.multi_processor_count,
        "memory_bytes": properties.total_memory,
        "cudnn": torch.backends.cudnn.version(),
        "nccl": list(nccl.version()),
        "to_device_bytes_per_second": {
            "page-locked": copy_rate(pinned=True),
            "plain": copy_rate(pinned=False),
        },
    }


def copy_rate(pinned: bool) -> float:
    """Bytes per second from the host's memory to the GPU's: the fastest of five copies."""
    source = torch.zeros(COPIED_BYTES, dtype=torch.uint8, pin_memory=pinned)
    target = torch.empty(COPIED_BYTES, dtype=torch.uint8, device="cuda")
    fastest = float("inf")
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        target.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
        fastest = min(fastest, time.perf_counter() - begin)
    return COPIED_BYTES / fastest


def main(arguments: Sequence[str]) -> int:
    """Tell, and write down."""
    parser = OneLineParser(prog="benchmarks.gpu_environment", description=__doc__)
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    record: dict[str, Any] = {
        "made": made("benchmarks.gpu_environment", arguments, what="a machine and its GPU"),
        "gpu": asked_of_the_driver(),
        "torch": of_torch(),
        "packages": packages(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "cores": processors(),
    }
    for group in ("gpu", "torch", "packages"):
        for name, value in record[group].items():
            print(f"{group:9s} {name:30s} {value}")
    if options.json:
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
