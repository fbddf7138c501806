"""All experiments by name, and what none of them makes yet.

An experiment is a module of this package with an `EXPERIMENT`. Its name begins with its paper: `ver_fig4.py`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import experiments
from experiments.experiment import Experiment

PAPERS = ("ver", "sf", "bps", "flex")  # in the order in which they are told
FLEX = "GPU-accelerated robotic simulation"


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
    ("VER", "Table 1, figures 5 and A1: two GPUs and more"),
    ("VER", "Section 6.2: without base motion skills are learned faster"),
    ("Sample Factory", "Figure 3 and table A.2: more environments, and other systems"),
    ("Sample Factory", "Figure 4: time beside another system"),
    ("Sample Factory", "Table A.3: DMLab drawn by a GPU, and larger populations"),
    ("Sample Factory", "Sections 4.2 and 4.3: DMLab-30, VizDoom and self-play"),
    (
        "BPS",
        "Tables 1, A3 and figure 3 on GPUs: speed beside the older simulator, Flee and Explore",
    ),
    ("BPS", "Table 1, WIJMANS++: a process for each simulator, on a CPU"),
    ("BPS", "Table A1: speed at a higher resolution"),
    ("BPS", "Figure A2: the renderer alone"),
    (FLEX, "Humanoid, flagrun, terrain; several GPUs"),
    (FLEX, "Figure 2: simulation alone, by the number of robots"),
    (FLEX, "Table 1: time until a humanoid runs, beside others"),
    (FLEX, "Appendix F, figure 7: MuJoCo on one core"),
)
