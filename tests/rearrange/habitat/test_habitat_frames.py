"""Habitat's frames, and what its simulator says where there is no Habitat: nothing here needs it."""

import importlib.util
import math
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.spatial.transform import Rotation

from rearrange.errors import UserError
from rearrange.habitat import simulator as habitat
from rearrange.habitat.frames import (
    from_habitat_position,
    from_habitat_rotation,
    to_habitat_position,
    to_habitat_rotation,
)
from rearrange.habitat.process import EngineError, EngineProcess
from rearrange.habitat.simulator import HabitatSimulator
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.sim.randomisation import Randomisation

HALF = math.sqrt(0.5)
numbers = st.floats(-100.0, 100.0)
points = arrays.arrays(float, (3,), elements=numbers)
quaternions = (
    arrays.arrays(float, (4,), elements=st.floats(-1.0, 1.0))
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)


# --- frames -----------------------------------------------------------------------------------------


def test_up_is_y_and_left_is_minus_z():
    assert to_habitat_position((1.0, 2.0, 3.0)).tolist() == [1.0, 3.0, -2.0]
    assert from_habitat_position((1.0, 3.0, -2.0)).tolist() == [1.0, 2.0, 3.0]


def test_a_thing_that_is_not_turned_here_is_turned_a_quarter_about_x_there():
    assert to_habitat_rotation((1.0, 0.0, 0.0, 0.0)) == pytest.approx([-HALF, 0.0, 0.0, HALF])


def test_a_turn_to_the_left_is_one_about_habitats_y():
    left = (math.cos(0.3), 0.0, 0.0, math.sin(0.3))
    turned = Rotation.from_quat(to_habitat_rotation(left))
    upright = Rotation.from_quat(to_habitat_rotation((1.0, 0.0, 0.0, 0.0)))
    assert (turned * upright.inv()).as_rotvec() == pytest.approx([0.0, 0.6, 0.0])


@given(points)
def test_positions_come_back(point):
    assert from_habitat_position(to_habitat_position(point)) == pytest.approx(point, abs=1e-12)


@given(quaternions)
def test_rotations_come_back(quaternion):
    back = from_habitat_rotation(to_habitat_rotation(quaternion))
    assert back == pytest.approx(quaternion, abs=1e-12)


@given(quaternions, points, points)
def test_a_point_of_a_thing_is_the_same_point_in_both_worlds(quaternion, position, local):
    here = position + Rotation.from_quat(quaternion, scalar_first=True).apply(local)
    turn = Rotation.from_quat(to_habitat_rotation(quaternion))
    there = to_habitat_position(position) + turn.apply(local)
    assert from_habitat_position(there) == pytest.approx(here, abs=1e-9)


@given(quaternions)
def test_matrices_and_quaternions_agree(quaternion):
    matrix = habitat.rotation_matrix(quaternion)
    expected = Rotation.from_quat(quaternion, scalar_first=True).as_matrix()
    assert matrix == pytest.approx(expected, abs=1e-9)
    assert abs(habitat.quaternion_of(matrix) @ quaternion) == pytest.approx(1.0, abs=1e-9)


def test_many_at_once_are_as_one_by_one():
    rng = np.random.default_rng(0)
    turns = Rotation.random(5, random_state=0).as_quat(scalar_first=True)
    spots = rng.normal(size=(2, 5, 3))
    assert to_habitat_rotation(turns)[3] == pytest.approx(to_habitat_rotation(turns[3]))
    assert to_habitat_position(spots)[1, 2] == pytest.approx(to_habitat_position(spots[1, 2]))


def test_the_base_arrives_in_the_last_substep():
    motion = np.array([1.0, 2.0, 0.5, 0.01, -0.02, 0.03])
    poses = habitat.base_poses(motion)
    assert poses.shape == (4, 7)
    assert from_habitat_position(poses[-1, :3]) == pytest.approx([1.04, 1.92, 0.0])
    yaw = Rotation.from_quat(from_habitat_rotation(poses[-1, 3:]), scalar_first=True)
    assert yaw.as_rotvec() == pytest.approx([0.0, 0.0, 0.62])


# --- without Habitat --------------------------------------------------------------------------------


def test_without_habitat_one_line_says_what_to_install(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "habitat_sim" else find(name)
    )
    with pytest.raises(UserError, match=r"sim=habitat needs habitat-sim.* conda install") as told:
        HabitatSimulator(1)
    assert "\n" not in str(told.value)


def test_our_packages_import_nothing_of_habitat():
    code = """
        import sys
        import rearrange.env, rearrange.habitat.simulator, skills.settings
        print([m for m in sys.modules if m.split(".")[0] in ("habitat_sim", "magnum", "habitat")])
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    assert subprocess.check_output(run, text=True).strip() == "[]"


def test_what_habitat_cannot_randomise_is_refused():
    with pytest.raises(UserError, match="cannot randomise"):
        HabitatSimulator(1, SimulatorConfig(randomise=Randomisation(friction=0.1)))


# --- an engine that dies ----------------------------------------------------------------------------

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
