"""The Habitat simulator where there is no Habitat."""

import importlib.util
import subprocess
import sys
import textwrap
from dataclasses import replace

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
)
from rearrange.habitat.simulator import HabitatSimulator
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.sim.randomisation import Randomisation

quaternions = (
    arrays.arrays(float, (4,), elements=st.floats(-1.0, 1.0))
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)


@given(quaternions)
def test_matrices_and_quaternions_agree(quaternion):
    matrix = habitat.rotation_matrix(quaternion)
    expected = Rotation.from_quat(quaternion, scalar_first=True).as_matrix()
    assert matrix == pytest.approx(expected, abs=1e-9)
    assert abs(habitat.quaternion_of(matrix) @ quaternion) == pytest.approx(1.0, abs=1e-9)


def test_the_base_arrives_in_the_last_substep():
    motion = np.array([1.0, 2.0, 0.5, 0.01, -0.02, 0.03])
    poses = habitat.base_poses(motion)
    assert poses.shape == (4, 7)
    assert from_habitat_position(poses[-1, :3]) == pytest.approx([1.04, 1.92, 0.0])
    yaw = Rotation.from_quat(from_habitat_rotation(poses[-1, 3:]), scalar_first=True)
    assert yaw.as_rotvec() == pytest.approx([0.0, 0.0, 0.62])


def test_without_habitat_one_line_says_what_to_install(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "habitat_sim" else find(name)
    )
    with pytest.raises(UserError, match=r"sim=habitat needs habitat-sim.* conda install") as told:
        HabitatSimulator(1)
    assert "\n" not in str(told.value)


@pytest.mark.slow
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


def test_homes_of_files_are_refused():
    with pytest.raises(UserError, match=r"barn\.yaml: sim=habitat has our own homes"):
        HabitatSimulator(1, scene=replace(APARTMENT, file="barn.yaml"))
