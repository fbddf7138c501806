import json

import numpy as np
import pytest

from benchmarks import sample_efficiency
from ver import UserError


def run(success, seed=1):
    places = [10.0 * (k + 1) for k in range(len(success))]
    return {
        "seed": seed, "steps": places, "seconds": [p / 5 for p in places], "success": success,
        "policy_lag": 1.0, "policy_lag_max": 2.0,
    }  # fmt: skip


def test_curves_are_interquartile_means():
    runs = [run([0.0, value]) for value in (0.1, 0.2, 0.4, 0.9)]
    mean, low, high = sample_efficiency.curve(
        runs, "steps", np.array([5.0, 10.0, 15.0, 20.0, 99.0])
    )
    np.testing.assert_allclose(mean, [0, 0, 0.15, 0.3, 0.3])  # the middle two of four
    assert (low <= mean).all()
    assert (mean <= high).all()
    assert 0.1 <= low[-1] < 0.3 < high[-1] <= 0.9


def test_what_is_trimmed_is_told():
    assert sample_efficiency.averaged(3) == "mean of 3 seeds, bootstrap 95 %"
    assert sample_efficiency.averaged(4) == "interquartile mean of 4 seeds, bootstrap 95 %"


def test_curves_begin_where_there_is_data():
    late = {**run([0.5, 0.6]), "steps": [15.0, 30.0]}
    found = sample_efficiency.summarise({"ver": [run([0.2, 0.4]), late], "appo": [run([0.1])]})
    grids = {name: each["curves"]["steps"]["grid"] for name, each in found.items()}
    assert [(grid[0], grid[-1]) for grid in grids.values()] == [(15.0, 30.0), (10.0, 30.0)]
    assert found["ver"]["curves"]["steps"]["mean"][0] == pytest.approx(0.4)


def test_where_a_run_gets_there():
    assert sample_efficiency.reached(run([0.5, 0.8, 0.7]), "steps") == 20.0
    assert sample_efficiency.reached(run([0.5, 0.8, 0.7]), "seconds") == 4.0
    assert sample_efficiency.reached(run([0.5]), "steps") is None
    assert sample_efficiency.typical([3000.0, None, 1000.0]) == "3,000"
    assert sample_efficiency.typical([3000.0, None, None]) == "never"


@pytest.mark.slow
def test_a_short_comparison_is_reported(tmp_path, capsys):
    arguments = ["--systems", "ver,appo", "--seeds", "1", "--steps", "3000", "--step-ms", "0.2"]
    path, picture = tmp_path / "x.json", tmp_path / "x.png"
    outputs = ["--json", str(path)]
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        with pytest.raises(UserError, match="plots need matplotlib"):
            sample_efficiency.plot({}, picture)
    else:
        outputs += ["--output", str(picture)]
    assert sample_efficiency.main([*arguments, *outputs]) == 0
    said = capsys.readouterr()
    assert "steps to 80%" in said.out
    record = json.loads(path.read_text())
    assert set(record["systems"]) == {"ver", "appo"}
    curve = record["systems"]["ver"]["curves"]["steps"]
    assert len(curve["grid"]) == len(curve["low"]) == sample_efficiency.POINTS
    assert picture.exists() == ("--output" in outputs)
