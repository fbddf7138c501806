"""Judges the trails of environments that have had every kind of fault."""

from benchmarks.faulty_environments import trail_length
from ver.shared.outcomes import CONTINUES, TERMINATED, TRUNCATED

KIND_OF = {
    "raise": "raised",
    "raise_in_reset": "raised",
    "hang": "hung",
    "die": "died",
    "nan_reward": "not_finite",
    "nan_observation": "not_finite",
}


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
