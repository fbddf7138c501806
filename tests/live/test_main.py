"""The command, the episodes that its agents play, and what it refuses."""

import subprocess
import sys


def test_the_command_ends_in_one_line():
    command = [sys.executable, "-m", "live", "juggle"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown skill 'juggle': choose one of navigate")
