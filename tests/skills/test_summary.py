"""Figures of played episodes."""

import pytest

from skills.summary import summarise


def test_summary_counts_causes_of_failed_episodes_only():
    won = {"episode": 1, "success": 1.0, "success_once": 1.0, "length": 5.0, "failure/timeout": 0.0}
    won["detour"] = 1.0
    lost = {
        "episode": 0,
        "success": 0.0,
        "success_once": 1.0,
        "length": 7.0,
        "failure/timeout": 1.0,
    }
    summary = summarise([won, lost])
    assert summary["success_at_end"]["mean"] == 0.5
    assert summary["success_once"]["mean"] == 1.0
    assert summary["failures"] == {"timeout": 1}
    assert summary["means"] == {"length": 6.0}
    assert list(summary["starts"]) == ["detour"]
    assert summary["starts"]["detour"]["episodes"] == 1
    assert summary["starts"]["detour"]["success_at_end"]["mean"] == 1.0


def test_intervals_are_over_plans():
    results = [
        {"episode": i, "layout": i // 5, "variation": i, "success": float(i < 5), "length": 5.0}
        for i in range(10)
    ]
    apart = summarise(results)
    alike = summarise([result | {"layout": 3} for result in results])
    assert (apart["plans"], apart["apartments"], alike["plans"]) == (2, 10, 1)
    assert alike["success_at_end"]["low"] == pytest.approx(0.2366, abs=5e-5)  # Wilson's
    assert apart["success_at_end"]["low"] < 0.01  # one plan works, one does not


def test_success_is_told_by_receptacle_and_way():
    results = [
        {"episode": i, "layout": i, "variation": i, "success": won, "length": 5.0}
        | {"receptacle": where, "detour": detour}
        for i, (where, won, detour) in enumerate(
            [("sink", 1.0, 0.0), ("fridge_middle", 0.0, 1.0), ("fridge_middle", 1.0, 1.0)]
        )
    ]
    summary = summarise(results)
    parts = {
        name: (part["episodes"], part["success_at_end"]["mean"])
        for name, part in (summary["receptacles"] | summary["starts"]).items()
    }
    assert parts == {
        "sink": (1, 1.0), "fridge_middle": (2, 0.5), "straight": (1, 1.0), "detour": (2, 0.5)
    }  # fmt: skip
    assert summary["means"] == {"length": 5.0}
    assert summarise([results[0]])["starts"].keys() == {"straight"}
