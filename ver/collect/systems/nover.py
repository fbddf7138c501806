"""NoVER: VER without variable experience rollouts, the VER paper's own baseline (section 5.1)."""

from __future__ import annotations

from ver.collect.systems.ver import VERCollector


class NoVERCollector(VERCollector):
    """Collects T steps from every environment; one that has made its own waits for the others.

    Requests are batched as they arrive, as VER does: a slow step holds up nobody else's next step.
    But the rollout ends with the slowest environment. Each environment's newest action is held
    back until the next policy decides, so all experience is on-policy.
    """

    fixed_length = True


SYSTEM = NoVERCollector
