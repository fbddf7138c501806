"""All experiments by name, and what none of them makes yet.

An experiment is a module of this package with an `EXPERIMENT`. Its name begins with its paper: `ver_fig4.py`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import experiments
from experiments.experiment import Experiment

PAPERS = ("ver", "sf", "bps", "flex")  # in the order in which they are told


def found() -> list[Experiment]:
    """Experiments of all papers, those of one in the order of their names."""
    names = [module.name for module in iter_modules(experiments.__path__)]
    return [
        import_module(f"experiments.{name}").EXPERIMENT
        for paper in PAPERS
        for name in sorted(names)
        if name.startswith(f"{paper}_")
    ]


EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in found()}
MISSING = (
    ("VER", "Figure 4: ObjectNav"),
    ("VER", "Table 1 and Figure 5: two GPUs and more"),
    ("Sample Factory", "Figures 3 and 4: more environments, and time beside other systems"),
    ("Sample Factory", "Sections 4.2 and 4.3: DMLab-30, VizDoom and self-play"),
    (
        "BPS",
        "Tables 1, A3 and figure 3 on GPUs: speed beside the older simulator, Flee and Explore",
    ),
    ("GPU-accelerated robotic simulation", "Humanoid, flagrun, terrain; several GPUs"),
)
