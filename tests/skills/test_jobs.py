"""Lists of commands that go on where they were."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rearrange.errors import UserError
from skills.jobs import Job, last_line, processor_ids, run_jobs
from tests.helpers import ROOT


def job(name: str, code: str) -> Job:
    return Job(name, ("-c", code))


def appending(folder: Path, letter: str) -> Job:
    return job(
        letter, f"open({str(folder / 'order')!r}, 'a').write({letter!r}); print('did', {letter!r})"
    )


def states(folder: Path) -> dict[str, str]:
    entries = json.loads((folder / "state.json").read_text())
    return {name: entry["status"] for name, entry in entries.items()}


def test_jobs_run_in_order_and_once(tmp_path, capsys):
    listed = [appending(tmp_path, "a"), appending(tmp_path, "b")]
    assert run_jobs(listed, tmp_path, "Jobs") == 0
    assert run_jobs(listed, tmp_path, "Jobs") == 0
    assert (tmp_path / "order").read_text() == "ab"
    assert (tmp_path / "logs" / "a.log").read_text() == "did a\n"
    assert states(tmp_path) == {"a": "done", "b": "done"}
    assert "[2/2] b 0:00:0" in capsys.readouterr().err


def test_a_job_whose_command_has_changed_runs_again(tmp_path):
    run_jobs([appending(tmp_path, "a"), appending(tmp_path, "b")], tmp_path, "Jobs")
    changed = Job("a", (*appending(tmp_path, "a").arguments, "more"))
    assert run_jobs([changed, appending(tmp_path, "b")], tmp_path, "Jobs") == 0
    assert (tmp_path / "order").read_text() == "aba"


def test_a_failure_ends_the_list_and_is_told(tmp_path, capsys):
    failing = job(
        "bad", "import sys; print('error: no <such> thing', file=sys.stderr); sys.exit(2)"
    )
    assert run_jobs([failing, appending(tmp_path, "a")], tmp_path, "Jobs") == 2
    assert not (tmp_path / "order").exists()
    assert "bad failed" in capsys.readouterr().err.splitlines()[-1]
    assert states(tmp_path) == {"bad": "failed"}
    page = (tmp_path / "index.html").read_text()
    assert "error: no &lt;such&gt; thing" in page
    assert '<tr class="waiting"><td>a</td>' in page


def waiting_for(folder: Path, name: str, other: str, after: tuple[str, ...] = ()) -> Job:
    """A job that ends well only if another has begun meanwhile; it writes down its processors."""
    code = f"""
import os, pathlib, sys, time
folder = pathlib.Path({str(folder)!r})
(folder / "{name}.begun").write_text(str(sorted(os.sched_getaffinity(0))))
end = time.monotonic() + 30
while not (folder / "{other}.begun").exists():
    time.sleep(0.01)
    assert time.monotonic() < end
"""
    return Job(name, ("-c", code), after)


def test_some_run_at_once_each_with_its_own_processors(tmp_path):
    listed = [waiting_for(tmp_path, "a", "b"), waiting_for(tmp_path, "b", "a")]
    assert run_jobs(listed, tmp_path, "Jobs", at_once=2) == 0
    used = [set(json.loads((tmp_path / f"{name}.begun").read_text())) for name in "ab"]
    if len(processor_ids()) >= 2:
        assert not used[0] & used[1]
        assert used[0] | used[1] == set(processor_ids())


def test_a_job_waits_for_those_before_it_and_runs_again_after_them(tmp_path):
    first, second = appending(tmp_path, "a"), appending(tmp_path, "b")
    after = Job("c", appending(tmp_path, "c").arguments, ("a", "b"))
    assert run_jobs([first, second, after], tmp_path, "Jobs", at_once=2) == 0
    order = (tmp_path / "order").read_text()
    assert sorted(order) == ["a", "b", "c"]
    assert order[-1] == "c"
    changed = Job("a", (*first.arguments, "more"))
    assert run_jobs([changed, second, after], tmp_path, "Jobs", at_once=2) == 0
    assert (tmp_path / "order").read_text() == order + "ac"


def test_a_list_in_the_wrong_order_is_refused(tmp_path):
    first = appending(tmp_path, "a")
    for listed in ([Job("c", first.arguments, ("a",)), first], [Job("c", first.arguments, ("d",))]):
        with pytest.raises(ValueError, match="c comes after"):
            run_jobs(listed, tmp_path, "Jobs")


def test_those_beside_one_that_fails_are_stopped(tmp_path):
    failing = job("bad", "import sys; sys.exit(3)")
    beside = job("long", "import time; time.sleep(60)")
    begin = time.monotonic()
    assert run_jobs([beside, failing, appending(tmp_path, "a")], tmp_path, "Jobs", at_once=2) == 3
    assert time.monotonic() - begin < 30.0
    assert states(tmp_path) == {"long": "waiting", "bad": "failed"}
    assert not (tmp_path / "order").exists()


def test_a_signal_reaches_the_job_and_the_next_run_goes_on(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from skills.jobs import Job, run_jobs
catch = '''
import signal, sys, time
def stop(*_):
    print("saved", flush=True); sys.exit(130)
signal.signal(signal.SIGINT, stop); print("ready", flush=True); time.sleep(60)
'''
sys.exit(run_jobs([Job("long", ("-c", catch))], Path({str(tmp_path)!r}), "Jobs"))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    log = tmp_path / "logs" / "long.log"
    wait_for(lambda: last_line(log) == "ready")
    with pytest.raises(UserError, match="another process runs the jobs"):
        run_jobs([], tmp_path, "Jobs")
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert last_line(log) == "saved"
    assert "stopped: the same command goes on from here" in told
    assert run_jobs([appending(tmp_path, "a")], tmp_path, "Jobs") == 0


def test_a_killed_list_leaves_no_job_behind(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from skills.jobs import Job, run_jobs
run_jobs([Job("long", ("-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"))],
         Path({str(tmp_path)!r}), "Jobs")
"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    log = tmp_path / "logs" / "long.log"
    wait_for(lambda: last_line(log).isdigit())
    process.kill()
    process.wait()
    wait_for(lambda: not Path(f"/proc/{last_line(log)}").exists())
    assert states(tmp_path) == {"long": "running"}
    assert run_jobs([appending(tmp_path, "a")], tmp_path, "Jobs") == 0


@pytest.mark.parametrize(
    "state",
    [
        '{"a": {"status": "done"}}',
        '{"a": {"command": [], "status": "done", "seconds": "1"}}',
        '{"a": {"command": [], "status": "done", "seconds": 1, "turn": "1"}}',
    ],
)
def test_a_broken_state_is_told(tmp_path, state):
    (tmp_path / "state.json").write_text(state)
    with pytest.raises(UserError, match=r"state\.json is broken: delete it"):
        run_jobs([appending(tmp_path, "a")], tmp_path, "Jobs")


def test_of_a_line_drawn_over_itself_the_last_version_counts(tmp_path):
    (tmp_path / "log").write_bytes(b"first\n10 %\r20 %\r30 %\n\n")
    assert last_line(tmp_path / "log") == "30 %"
    assert last_line(tmp_path / "none") == ""


def wait_for(condition, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
