import subprocess
import sys

import pytest

from tests.helpers import toy_environments
from tests.helpers.small_runs import small_run
from ver.errors import UserError, WriteError
from ver.run_lock import RunLock
from ver.trainer import Trainer

HOLD = """
import sys, time
from pathlib import Path
from ver.run_lock import RunLock
lock = RunLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_training_is_refused_in_one_line(tmp_path):
    lock = RunLock(tmp_path / "run")
    with pytest.raises(UserError, match=r"another training writes into .*run: stop it"):
        RunLock(tmp_path / "run")
    lock.release()
    RunLock(tmp_path / "run").release()


def test_it_is_refused_before_it_touches_what_the_first_is_writing(tmp_path):
    unfinished = tmp_path / ".policy.safetensors.x.tmp"
    unfinished.touch()
    with RunLock(tmp_path), pytest.raises(UserError, match="another training writes into"):
        Trainer(small_run(), toy_environments.make_cue, tmp_path)
    assert unfinished.exists()
    Trainer(small_run(), toy_environments.make_cue, tmp_path)
    assert not unfinished.exists()


def test_a_kill_lets_go(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(UserError, match="another training"):
                RunLock(tmp_path)
        finally:
            holder.kill()
    RunLock(tmp_path).release()


def test_what_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot write"):
        RunLock(tmp_path / "file")
