"""The steps of a day on a machine with a GPU: what each runs, for how long at most, and in the small on a CPU.

Their order: what is quick and likely to fail first. What compiles runs beside what is not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Words = tuple[str, ...]

# Homes that are made within seconds; recorded starts are of the others
FEW_HOMES: Words = ("split=val", "homes=classic", "starts.paths=[]")
MANY_WORLDS = "256,1024,4096"
LEAST_TESTS_S = 240.0


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
        later: Its module may not be there yet: then it is left out.
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
    later: bool = False


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


def _pointnav(worlds: int) -> tuple[Callable[[float], Words], Words]:
    """Arguments on a GPU, and small ones."""

    def words(scale: float) -> Words:
        return (
            *("pointnav", "--seconds", f"{60 * scale:g}", "--episodes", "100", "--settings"),
            *("trainer.device=cuda", f"trainer.collect.num_environments={worlds}"),
            *("trainer.collect.rollout_length=32", "trainer.total_steps=20000000"),
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
_DEVICE_TESTS = (
    "tests/ver/integration/test_devices.py",
    "tests/skills/integration/test_gpu_presets.py",
)
_WORLDS = ("--device", "cuda", "--worlds", MANY_WORLDS, "--seed", "1")
_FEW_WORLDS = ("--device", "cpu", "--worlds", "2", "--seed", "1")
_POINTNAV_1024, _SMALL_POINTNAV = _pointnav(1024)
_POINTNAV_4096, _ = _pointnav(4096)


def _always(*words: str) -> Callable[[float], Words]:
    return lambda seconds: words


STEPS = (
    Step(
        "environment", "the machine, its GPU and its packages", "benchmarks.gpu_environment",
        _always(), (), 10, 60, timed=False,
    ),
    Step(
        "compile", "kernels of the worlds", "tests.compile_kernels",
        _always(), (), 100, 400, writes=False, beside=True, timed=False,
    ),
    Step(
        "tests", "tests marked gpu", "pytest",
        _always("-m", "gpu", "-n", "6", "--no-header", "-rfE", "--timeout=150", "tests"),
        ("-q", "-k", "cpu and not update", "-p", "no:cacheprovider", _DEVICE_TESTS[0]),
        120, LEAST_TESTS_S, writes=False, timed=False,
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
        "device_images", "images that the GPU draws", "benchmarks.device_images",
        _always(*_WORLDS, "--size", "64,128"), (*_FEW_WORLDS, "--size", "16"), 60, 200, later=True,
    ),
    Step(
        "apartments", "apartments that the GPU steps", "benchmarks.device_apartments",
        _always(*_WORLDS), _FEW_WORLDS, 90, 300, later=True,
    ),
)  # fmt: skip
