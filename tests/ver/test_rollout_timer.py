import pytest

from ver import rollout_timer
from ver.rollout_timer import RolloutTimer


def test_shares_of_a_rollout_and_saving_is_charged_to_the_next_one(monkeypatch):
    clock = iter([100.0, 110.0, 110.0, 114.0, 115.0, 120.0])
    monkeypatch.setattr(rollout_timer.time, "perf_counter", lambda: next(clock))
    timer = RolloutTimer()
    timer.begin({"wait": 5.0, "inference": 1.0}, 0.5)
    timer.learning, timer.ranks = 4.0, 0.5
    row = timer.row({"wait": 7.0, "inference": 2.0}, 1.5, steps=200, samples=600)
    assert timer.wall == 10.0
    assert row == pytest.approx(
        {
            "time/simulation_wait": 0.2,
            "time/inference": 0.1,
            "time/learning": 0.3,
            "time/waiting_for_ranks": 0.05,
            "time/overhead": 0.35,
            "time/packing": 0.1,
            "steps_per_second": 20.0,
            "loss/samples_per_second": 150.0,
        }
    )
    with timer.saving():
        pass
    timer.begin({"wait": 7.0, "inference": 2.0}, 1.5)
    timer.row({"wait": 7.0, "inference": 2.0}, 1.5, steps=1, samples=1)
    assert timer.wall == 9.0  # 5 and the 4 of saving
