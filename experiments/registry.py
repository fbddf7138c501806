"""All experiments by name, in the order of the papers, and what none of them makes yet."""

from __future__ import annotations

from experiments import (
    bps_lamb,
    bps_table,
    flex_ant,
    sf_lag,
    ver_delay,
    ver_emergent,
    ver_fig4,
    ver_fig5,
    ver_table1,
)
from experiments.experiment import Experiment

MODULES = (
    *(ver_table1, ver_fig4, ver_fig5, ver_delay, ver_emergent),
    *(sf_lag, bps_table, bps_lamb, flex_ant),
)
EXPERIMENTS: dict[str, Experiment] = {each.EXPERIMENT.name: each.EXPERIMENT for each in MODULES}
MISSING = (
    ("VER", "Figure 4: ObjectNav"),
    ("VER", "Table 1 and Figure 5: two GPUs and more"),
    ("VER", "Figure 6: chains, without Navigate, monolithic, sense-plan-act"),
    ("Sample Factory", "Table 1: throughput beside pure simulation"),
    ("Sample Factory", "Section 4: population-based training"),
    ("BPS", "Figure 4: SPL against batch size"),
    ("BPS", "Table 1 on GPUs"),
    ("GPU-accelerated robotic simulation", "Humanoid, flagrun, terrain; several GPUs"),
)
