"""The process in the background: what comes of it, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from nav.background import LINE, Background
from rearrange.errors import UserError
from tests.helpers.loads import arrays, die, fail, late, refuse


@pytest.fixture
def background():
    made = Background()
    yield made
    made.close()


def gone(pid, within=10.0):
    """True if a process ends in time."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_values_come_in_the_order_in_which_they_are_asked_for(background):
    background.ask(arrays, 1000)
    background.ask(late, "second", 0.0)
    found = background.answer()
    for name, values in arrays(1000).items():
        np.testing.assert_array_equal(found[name], values)
        assert found[name].dtype == values.dtype
        # As kernels take them, without being compiled anew
        assert found[name].flags.writeable
        assert found[name].flags.c_contiguous
    assert found["whole"].ctypes.data % LINE == found["grid"].ctypes.data % LINE == 0
    found["whole"][:] = 7.0  # is ours alone
    assert background.answer() == "second"
    assert not background.ready


def test_nobody_waits_before_the_answer_is_asked_for(background):
    background.ask(late, 5, 0.0)
    background.answer()
    begin = time.perf_counter()
    background.ask(late, 5, 1.0)
    assert not background.ready
    assert time.perf_counter() - begin < 0.5
    assert background.answer() == 5


def test_errors_are_one_line_and_the_next_one_is_made(background):
    background.ask(refuse, "no such scene")
    background.ask(fail, "a\nb")
    background.ask(late, 1, 0.0)
    with pytest.raises(UserError, match=r"^no such scene$"):
        background.answer()
    with pytest.raises(RuntimeError, match=r"^KeyError: 'a\\nb'$"):
        background.answer()
    assert background.answer() == 1


def test_a_death_is_told_and_the_next_question_starts_anew(background):
    background.ask(die, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=r"died \(SIGKILL\): is memory short\?$"):
        background.answer()
    background.ask(late, 3, 0.0)
    assert background.answer() == 3


def test_it_ends_in_the_middle_of_something_when_closed(background):
    background.ask(late, 1, 60.0)
    pid = background.pid
    background.close()
    background.close()
    assert gone(pid)
    assert background.pid is None


def test_ctrl_c_is_not_for_it_and_it_ends_with_its_parent(tmp_path):
    script = (
        "import time\n"
        "from nav.background import Background\n"
        "from tests.helpers.loads import late\n"
        "background = Background()\n"
        "background.ask(late, 1, 0.0)\n"
        "background.answer()\n"
        "background.ask(late, 1, 60.0)\n"
        "print(background.pid, flush=True)\n"
        "time.sleep(60.0)\n"
    )
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert os.getsid(pid) != os.getsid(parent.pid)
        parent.kill()
    assert gone(pid)
