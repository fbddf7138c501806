import json
import os

import pytest

from benchmarks.habitat import main, memory, summarise, training_rate
from rearrange.errors import UserError


def test_figures_of_a_contestant():
    figures = summarise([0.001] * 98 + [0.01] * 2, 120.0)
    assert figures["steps_per_second"] == pytest.approx(100 / 0.118)
    assert figures["p50_ms"] == pytest.approx(1.0)
    assert figures["p99_ms"] > 1.0
    assert figures["memory_mib"] == 120.0


def test_the_first_rollout_of_a_training_does_not_count(tmp_path):
    rows = [{"steps": 100, "seconds": 50.0}, {"steps": 200, "seconds": 51.0}]
    rows.append({"steps": 300, "seconds": 52.0})
    (tmp_path / "metrics.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert training_rate(tmp_path) == pytest.approx(100.0)


def test_memory_of_this_process_is_counted():
    assert memory(os.getpid()) > 10.0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nothing"], "unknown 'nothing': choose one of mujoco, habitat, bare, habitat-lab"),
        (["mujoco", "--steps", "0"], "--steps must be at least 1, found 0"),
        (["mujoco", "--train", "512"], "--train must be 0, or above 512, found 512"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, what):
    with pytest.raises(UserError, match=what):
        main(arguments)


@pytest.mark.slow
def test_our_own_world_is_measured_and_trained_in(tmp_path):
    file = tmp_path / "figures.json"
    training = ["--train", "256", "--workers", "1"]  # the second rollout alone counts
    assert main(["mujoco", "--steps", "60", *training, "--json", str(file)]) == 0
    record = json.loads(file.read_text())
    assert record["steps"]["mujoco"]["steps"] >= 60
    assert record["steps"]["mujoco"]["steps_per_second"] > 100
    assert record["training"]["mujoco"] > 0
