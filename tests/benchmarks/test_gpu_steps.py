from importlib.util import find_spec

from benchmarks.gpu_steps import STEPS, gpu_tests
from tests.helpers import ROOT


def test_steps_have_different_names_of_modules_that_are_there():
    assert len({step.name for step in STEPS}) == len(STEPS)
    for step in STEPS:
        assert step.needs or find_spec(step.module) is not None, step.name
        assert 0 < step.seconds < step.limit_s < 600, step.name


def test_what_is_timed_is_scaled():
    (step,) = (step for step in STEPS if step.name == "learn_pick")
    whole, half = step.words(1.0), step.words(0.5)
    place = whole.index("--seconds") + 1
    assert float(half[place]) == float(whole[place]) / 2
    assert whole[:place] + whole[place + 1 :] == half[:place] + half[place + 1 :]


def test_files_with_tests_for_a_gpu_are_found():
    found = gpu_tests("ver", "skills")
    assert "tests/ver/integration/test_devices.py" in found
    assert "tests/skills/integration/test_gpu_presets.py" in found
    assert "tests/ver/test_gae.py" not in found
    assert all((ROOT / path).is_file() for path in found)
