import json
from types import SimpleNamespace

import pytest

from benchmarks import timed_training
from benchmarks.timed_training import Clock, main
from skills.command import USER_ERRORS
from tests.helpers.small_runs import TINY_NAVIGATION


def test_the_first_rollout_is_left_out(monkeypatch):
    now = iter([100.0, 104.0, 110.0])
    monkeypatch.setattr(timed_training.time, "perf_counter", lambda: next(now))
    clock = Clock(10.0)
    shares = {f"time/{name}": 0.25 for name in timed_training.SHARES}
    ended = [
        clock(SimpleNamespace(steps=steps), shares | {"time/learning": share})  # pyright: ignore
        for steps, share in ((500, 9.0), (900, 0.5), (1500, 0.25))
    ]
    assert ended == [False, False, True]
    figures = clock.figures()
    assert figures["steps_per_second"] == (1500 - 500) / 10
    assert figures["shares"]["learning"] == pytest.approx(0.4 * 0.5 + 0.6 * 0.25)
    assert [row["steps"] for row in figures["curve"]] == [500, 900, 1500]


def test_one_rollout_tells_nothing():
    with pytest.raises(USER_ERRORS, match="give it more --seconds"):
        Clock(1.0).figures()


@pytest.mark.slow
def test_a_training_is_timed_and_judged(tmp_path):
    words = [*TINY_NAVIGATION, "split=val", "homes=classic", "trainer.total_steps=1000000"]
    path = tmp_path / "a.json"
    assert (
        main(
            [
                "pointnav",
                "--seconds",
                "0.01",
                "--episodes",
                "2",
                "--json",
                str(path),
                "--settings",
                *words,
            ]
        )
        == 0
    )
    record = json.loads(path.read_text())
    assert record["training"]["system"] == "batched"
    assert record["training"]["worlds"] == 4
    assert record["training"]["steps"] == 32 * len(
        {r["steps"] for r in record["training"]["curve"]}
    )
    assert record["judged"]["episodes"] == 2
    assert 0.0 <= record["judged"]["success_at_end"]["mean"] <= 1.0


def test_an_unknown_task_is_refused():
    with pytest.raises(USER_ERRORS, match="unknown task 'pik'"):
        main(["pik"])
