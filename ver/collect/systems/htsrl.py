"""HTS-RL (Liu et al. 2020) as the VER paper implements it to compare with (appendix E)."""

from __future__ import annotations

from ver.collect.systems.nover import NoVERCollector


class HTSRLCollector(NoVERCollector):
    """NoVER that collects the next rollout while the learner learns from the one before.

    Gradients are delayed by one rollout: a rollout is acted by the weights from before the learning
    that goes on beside it. Both wait for each other at its end.
    """

    always_overlaps = True


SYSTEM = HTSRLCollector
