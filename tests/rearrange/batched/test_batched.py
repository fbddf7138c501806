"""Nothing heavy is imported, and what is missing is told with the command that installs it."""

import subprocess
import sys

import pytest

from rearrange import batched
from rearrange.errors import UserError


def test_what_is_missing_is_told_with_the_command(monkeypatch):
    monkeypatch.setattr(batched, "find_spec", lambda name: None if name == "mujoco_warp" else name)
    with pytest.raises(UserError) as error:
        batched.check_installed()
    assert "mujoco_warp" in str(error.value)
    assert str(error.value).endswith(batched.INSTALL)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_bank_and_starts_need_neither_warp_nor_mujoco_warp():
    code = (
        "import sys, rearrange.batched.bank, rearrange.batched.starts\n"
        "assert not {'warp', 'mujoco_warp'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
