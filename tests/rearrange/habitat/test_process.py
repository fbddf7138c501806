"""The engine's process: answers, mistakes, deaths; without Habitat."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from nav.mesh_worlds import ENGINE as MESH_ENGINE
from rearrange.errors import UserError
from rearrange.habitat.dataset import SURVEY
from rearrange.habitat.process import ENGINE, SERVER, EngineError, EngineProcess, render_device

FAKE_ENGINE = """
    import os, sys, time

    class Engine:
        def __init__(self, settings):
            pass

        def add(self, *arguments):
            return ["add", *arguments]

        def die(self):
            print("loading the scene", flush=True)
            print("Assertion mass > 0 failed", file=sys.stderr, flush=True)
            os.abort()

        def sleep(self):
            time.sleep(60)

        def refuse(self):
            raise ValueError("no such file")
"""


@pytest.fixture
def engine(tmp_path):
    script = tmp_path / "fake_engine.py"
    script.write_text(textwrap.dedent(FAKE_ENGINE))
    process = EngineProcess({"physics": "none"}, "world 3", script)
    yield process
    process.close()


def test_an_engine_answers(engine):
    engine.ask("add", 1, 2)
    assert engine.answer() == ["add", 1, 2]


@pytest.mark.parametrize("first", ["add", "refuse", "die"])
def test_an_answer_that_nobody_waits_for_is_not_that_of_the_next_request(engine, first):
    engine.ask(first)
    if first == "die":
        with pytest.raises(EngineError, match="has ended"):
            engine.ask("add", 1)
    else:
        engine.ask("add", 1)
        assert engine.answer() == ["add", 1]


def test_an_engine_may_have_modules_beside_it(tmp_path):
    (tmp_path / "beside.py").write_text(
        "class Engine:\n    def __init__(self, settings):\n"
        "        pass\n\n    def told(self):\n        return 'told'\n"
    )
    script = tmp_path / "__init__.py"
    script.write_text("from .beside import Engine\n")
    process = EngineProcess({}, "world 3", script)
    process.ask("told")
    assert process.answer() == "told"
    process.close()


@pytest.mark.parametrize("file", [ENGINE, SURVEY, MESH_ENGINE], ids=lambda file: file.parent.name)
def test_engines_load_nothing_of_ours(file):
    code = f"""
        import runpy, sys
        engine = runpy.run_path({str(SERVER)!r})["load"]({str(file)!r})
        print(engine.__name__, {{"rearrange", "nav", "mujoco", "numba"}} & {{*sys.modules}})
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert run.stdout == "Engine set()\n"


def test_a_dead_engine_is_one_line_with_its_last_words(engine):
    engine.ask("die")
    with pytest.raises(EngineError) as told:
        engine.answer()
    message = str(told.value)
    assert "\n" not in message
    assert "engine of world 3 died (SIGABRT) at die" in message
    assert "loading the scene | Assertion mass > 0 failed" in message
    assert isinstance(told.value, UserError)
    assert not engine.alive
    with pytest.raises(EngineError, match="has ended: reset that world"):
        engine.ask("add")


def test_an_engine_that_died_between_two_requests_is_told(engine):
    os.kill(engine.pid, signal.SIGKILL)
    engine._process.wait()
    with pytest.raises(EngineError, match="SIGKILL"):
        ask_twice(engine)


def ask_twice(engine):
    for _ in range(2):
        engine.ask("add")
        engine.answer()


def test_an_engine_that_refuses_lives_on(engine):
    engine.ask("refuse")
    with pytest.raises(EngineError, match="no such file"):
        engine.answer()
    engine.ask("add")
    assert engine.answer() == ["add"]


def test_an_engine_that_hangs_is_ended(engine, monkeypatch):
    monkeypatch.setattr("rearrange.habitat.process._TIME_LIMIT", 0.2)
    engine.ask("sleep")
    with pytest.raises(EngineError, match=r"hung for more than 0.2 s at sleep"):
        engine.answer()
    assert not engine.alive


def test_closing_twice_ends_the_process(engine):
    engine.close()
    engine.close()
    assert engine._process.poll() is not None


def test_an_engine_does_not_outlive_its_parent(tmp_path):
    script = tmp_path / "fake_engine.py"
    script.write_text(textwrap.dedent(FAKE_ENGINE))
    code = f"""
        import os, signal
        from pathlib import Path
        from rearrange.habitat.process import EngineProcess
        process = EngineProcess({{}}, "world 0", Path({str(script)!r}))
        print(process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    pid = int(run.stdout)
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}") or b"Z" in _state(pid):
            return
        subprocess.run(["sleep", "0.05"], check=True)
    raise AssertionError("the engine lives on")


def _state(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0]
    except OSError:
        return b"Z"


def test_a_gpu_that_is_no_number_is_told(monkeypatch):
    monkeypatch.setenv("HABITAT_GPU", "2")
    assert render_device() == 2
    for value in ("cuda:0", "-2", ""):
        monkeypatch.setenv("HABITAT_GPU", value)
        with pytest.raises(UserError, match=f"HABITAT_GPU: .* is expected, not '{value}'"):
            render_device()
