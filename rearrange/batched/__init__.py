"""Homes by the thousand on one device, GPU or CPU, simulated by mujoco-warp.

Importing this imports nothing heavy. What simulates needs Warp and mujoco-warp, which the base install does not
have: pip would put a second MuJoCo beside ours, so they are installed by the command in INSTALL.
"""

from __future__ import annotations

from importlib.util import find_spec

from rearrange.errors import UserError

DEVICE = "device"  # name of the simulator
INSTALL = "pip install --no-deps warp-lang==1.19.0 mujoco-warp==4.0.0"


def check_installed() -> None:
    """Raise a UserError that names the command where Warp or mujoco-warp is not installed."""
    for package in ("warp", "mujoco_warp"):
        if find_spec(package) is None:
            raise UserError(f"homes on a device need {package}, which is not installed: {INSTALL}")
