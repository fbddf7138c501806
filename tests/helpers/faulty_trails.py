"""Judges the trails of environments that have had every kind of fault."""

from pathlib import Path

from benchmarks.faulty_environments import KINDS, Trails, plan, trail_length
from ver.collect.faults import Fault
from ver.shared.outcomes import CONTINUES, TERMINATED, TRUNCATED

KIND_OF = {
    "raise": "raised",
    "raise_in_reset": "raised",
    "hang": "hung",
    "die": "died",
    "nan_reward": "not_finite",
    "nan_observation": "not_finite",
}


def planned_faults(folder: Path) -> Trails:
    """Six environments of which each has another fault, by and by."""
    planned = [(kind, index % 6, 20 + 7 * index) for index, kind in enumerate(KINDS)]
    return Trails(plan(folder, *planned), delay_s=0.002)


def check_faults(
    counts: dict[str, int], seen: list[Fault], trail, episodes: list[dict[str, float]]
) -> None:
    """Every planned fault was seen once, and no wrong step was learned from."""
    assert sorted(fault.kind for fault in seen) == sorted(KIND_OF.values())
    assert counts["raised"] == counts["not_finite"] == 2
    assert counts["hung"] == counts["died"] == 1
    # One for each environment that failed in a step, and its neighbour where the worker went too.
    assert 5 <= counts["steps_lost"] <= 7
    check_trails(trail, counts["steps_lost"], len(seen) + 2)
    # Episodes that a fault ended are no episodes.
    assert episodes
    for episode in episodes:
        assert episode["episode_length"] >= 5
        assert 0.0 <= episode["episode_return"] <= 1.0 + 1e-6


def check_trails(trail, lost: int, cuts: int) -> None:
    """Over all rollouts: no step twice, none missing but lost ones, and few episodes cut short."""
    short = 0
    for steps in trail.values():
        assert len(set(steps)) == len(steps)
        lives: dict[float, list[tuple[int, int]]] = {}
        for life, t, outcome in steps:
            lives.setdefault(life, []).append((t, outcome))
        for life, parts in list(lives.items())[:-1]:
            assert [t for t, _ in parts] == list(range(len(parts)))
            whole = len(parts) == trail_length(life)
            short += not whole
            if whole:
                assert parts[-1][1] == (TERMINATED if life > 0 else TRUNCATED)
            else:
                # A cut right where a rollout ended was bootstrapped there, and CONTINUES.
                assert parts[-1][1] in (TRUNCATED, CONTINUES)
    assert short <= min(cuts, lost + 2)
