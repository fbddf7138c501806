"""The steps of a day on a machine with a GPU: what each runs, for how long at most, and in the small on a CPU.

Their order: what is quick and likely to fail first. What compiles runs beside what is not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from ver.public import ROOT

Words = tuple[str, ...]

# Homes that are made within seconds; recorded starts are of the others
FEW_HOMES: Words = ("split=val", "homes=classic", "starts.paths=[]")
MANY_WORLDS = "256,1024,4096"


@dataclass(frozen=True)
class Step:
    """A command in a process of its own.

    Attributes:
        name: Of the step, and of its files.
        about: What it does, in a few words.
        module: What is run, as after `python -m`.
        words: `words(seconds)` its arguments on a GPU; `seconds` scales the time of what is timed.
        small: Its arguments on a CPU, for a dry run.
        seconds: How long it takes on a GPU, roughly.
        limit_s: It is ended after so long.
        writes: It writes its result by --json; else its end and its last lines are the result.
        beside: It runs beside the steps after it, up to the first that is timed.
        timed: Nothing may run beside it.
        needs: A package that may not be installed: then it is left out.
    """

    name: str
    about: str
    module: str
    words: Callable[[float], Words]
    small: Words
    seconds: float
    limit_s: float
    writes: bool = True
    beside: bool = False
    timed: bool = True
    needs: str = ""


def _systems(scale: float, preset: str, systems: str, seconds: float, *more: str) -> Words:
    return (
        *("skill", "--skill", "pick", "--systems", systems, "--repeats", "1"),
        *("--seconds", f"{seconds * scale:g}", "--settings", f"preset={preset}"),
        *("trainer.device=cuda", "trainer.collect.num_environments=128"),
        *("trainer.collect.environments_per_worker=8", "trainer.collect.step_timeout_s=120", *more),
    )


def _small_systems(preset: str, systems: str, *more: str) -> Words:
    return (
        *("skill", "--skill", "pick", "--systems", systems, "--repeats", "1", "--seconds", "0.1"),
        *("--settings", f"preset={preset}", "trainer.device=cpu", "camera_size=64"),
        *("trainer.collect.num_environments=2", "trainer.collect.environments_per_worker=1"),
        *("trainer.collect.rollout_length=8", "trainer.network.encoder=small_cnn", *more),
    )


def _pointnav(worlds: int, *more: str) -> tuple[Callable[[float], Words], Words]:
    """Arguments on a GPU, and small ones."""

    def words(scale: float) -> Words:
        return (
            *("pointnav", "--seconds", f"{60 * scale:g}", "--episodes", "100", "--settings"),
            *("trainer.device=cuda", f"trainer.collect.num_environments={worlds}"),
            *("trainer.collect.rollout_length=32", "trainer.total_steps=10000000"),
            *more,
        )

    small = (
        *("pointnav", "--seconds", "0.1", "--episodes", "2", "--settings", "trainer.device=cpu"),
        *("split=val", "homes=classic", "trainer.collect.num_environments=4"),
        *("trainer.collect.rollout_length=8", "trainer.network.hidden_size=8"),
    )
    return words, small


def _pick(scale: float) -> Words:
    return (
        *("pick", "--seconds", f"{170 * scale:g}", "--episodes", "100", "--settings"),
        *("until=alone", "trainer.device=cuda", "trainer.collect.num_environments=128"),
        *("trainer.collect.environments_per_worker=8", "trainer.collect.rollout_length=128"),
    )


_SMALL_PICK = (
    *("pick", "--seconds", "0.1", "--episodes", "1", "--settings", "until=alone", *FEW_HOMES),
    *("trainer.device=cpu", "trainer.collect.num_environments=2"),
    *("trainer.collect.rollout_length=8", "trainer.network.hidden_size=8"),
)


def _pick_there(scale: float) -> Words:
    return (
        *("pick", "--seconds", f"{120 * scale:g}", "--episodes", "100", "--settings"),
        *("until=alone", "starts.paths=[]", "sim=device", "trainer.system=batched"),
        *("trainer.device=cuda", "trainer.collect.num_environments=1024"),
        *("trainer.collect.rollout_length=32", "trainer.total_steps=20000000"),
    )


_SMALL_PICK_THERE = (
    *(*_SMALL_PICK, "sim=device", "trainer.system=batched"),
    *("pool.homes=1", "pool.starts=2"),
)
# On many cores, and none longer than this; only where pytest has what it takes
_TESTING = (
    *("-m", "gpu", "-rfE", "-p", "no:cacheprovider"),
    *(("-n", "6") if find_spec("xdist") else ()),
    *(("--timeout", "120") if find_spec("pytest_timeout") else ()),
)
_SMALL_TESTS = ("--collect-only", "-q", "-m", "gpu", "-p", "no:cacheprovider")
_WORLDS = ("--device", "cuda", "--worlds", MANY_WORLDS, "--seed", "1")
_FEW_WORLDS = ("--device", "cpu", "--worlds", "2", "--seed", "1")
_POINTNAV_1024, _SMALL_POINTNAV = _pointnav(1024, "preset=bps")  # as many as in BPS
_POINTNAV_4096, _ = _pointnav(4096)
_POINTNAV_DRAWN, _ = _pointnav(4096, "agent.draw_on=cuda")


def gpu_tests(*folders: str) -> Words:
    """Files with tests marked gpu: others may want packages that such a machine lacks."""
    found = (
        path for name in folders for path in sorted((ROOT / "tests" / name).rglob("test_*.py"))
    )
    marks = "mark.gpu", "tests.helpers.devices"
    return tuple(
        str(path.relative_to(ROOT))
        for path in found
        if any(mark in path.read_text(encoding="utf-8") for mark in marks)
    )


def _always(*words: str) -> Callable[[float], Words]:
    return lambda seconds: words


STEPS = (
    Step(
        "environment", "the machine, its GPU and its packages", "benchmarks.gpu_environment",
        _always(), (), 10, 60, timed=False,
    ),
    Step(
        "compile_pick", "kernels of Pick", "benchmarks.warm_up",
        _always("pick"), ("pick",), 100, 400, writes=False, beside=True, timed=False,
    ),
    Step(
        "compile_nav", "kernels of PointNav", "benchmarks.warm_up",
        _always("pointnav"), ("pointnav",), 40, 300, writes=False, beside=True, timed=False,
    ),
    Step(
        "tests", "tests marked gpu, but for those that step our worlds", "pytest",
        lambda scale: (*_TESTING, *gpu_tests("ver")), (*_SMALL_TESTS, *gpu_tests("ver")),
        90, 240, writes=False, timed=False,
    ),
    Step(
        "tests_of_worlds", "the other tests marked gpu", "pytest",
        lambda scale: (*_TESTING, *gpu_tests("rearrange", "nav", "skills", "benchmarks")),
        (*_SMALL_TESTS, *gpu_tests("skills")), 60, 200, writes=False,
    ),
    Step(
        "learner", "inference and learning, each alone", "benchmarks.learner",
        lambda scale: ("--device", "cuda", "--seconds", f"{0.3 * scale:g}"),
        ("--device", "cpu", "--seconds", "0", "--steps", "16", "--networks", "small"), 60, 180,
    ),
    Step(
        "simulation", "worlds alone, by threads", "benchmarks.threads",
        _always("--worlds", "128", "--blocks", "5"),
        ("--worlds", "2", "--blocks", "1", "--tasks", "pointnav", "--threads", "1"), 40, 150,
    ),
    Step(
        "systems_pick", "systems train Pick with the recipe's network", "benchmarks.systems",
        lambda scale: _systems(scale, "cpu", "ver,batched,ddppo", 20, "trainer.collect.rollout_length=128"),
        _small_systems("cpu", "ver,batched"), 110, 240,
    ),
    Step(
        "systems_gpu", "likewise with preset=gpu", "benchmarks.systems",
        lambda scale: _systems(scale, "gpu", "ver,batched", 20),
        _small_systems("gpu", "batched", "trainer.network.visual_features=32"), 90, 240,
    ),
    Step(
        "systems_paper", "likewise with preset=paper and HAB's rules", "benchmarks.systems",
        lambda scale: _systems(scale, "paper", "ver", 20, "rules=hab"),
        _small_systems("paper", "ver", "rules=hab", "trainer.network.visual_features=32"), 60, 200,
    ),
    Step(
        "learn_pick", "Pick is learned, the recipe's first stage", "benchmarks.timed_training",
        _pick, _SMALL_PICK, 210, 400,
    ),
    Step(
        "pointnav_1024", "PointNav is learned in 1,024 worlds", "benchmarks.timed_training",
        _POINTNAV_1024, _SMALL_POINTNAV, 100, 250,
    ),
    Step(
        "pointnav_4096", "PointNav is learned in 4,096 worlds", "benchmarks.timed_training",
        _POINTNAV_4096, _SMALL_POINTNAV, 110, 270,
    ),
    Step(
        "pointnav_drawn", "likewise, with images that the GPU draws", "benchmarks.timed_training",
        _POINTNAV_DRAWN, (*_SMALL_POINTNAV, "agent.draw_on=tensors"), 110, 270,
    ),
    Step(
        "device_images", "images that the GPU draws", "benchmarks.device_images",
        _always(*_WORLDS, "--size", "64,128"), (*_FEW_WORLDS, "--size", "16"), 60, 200,
    ),
    Step(
        "apartments", "apartments that the GPU steps", "benchmarks.device_apartments",
        _always(*_WORLDS), _FEW_WORLDS, 90, 300, needs="mujoco_warp",
    ),
    Step(
        "pick_there", "Pick is learned in 1,024 apartments that the GPU steps and draws",
        "benchmarks.timed_training", _pick_there, _SMALL_PICK_THERE, 240, 420, needs="mujoco_warp",
    ),
)  # fmt: skip
