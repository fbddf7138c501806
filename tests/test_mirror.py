"""Tests mirror the packages one for one: `a/b.py` is tested by `tests/a/test_b.py`."""

from fnmatch import fnmatch
from pathlib import Path

from tests.helpers import ROOT

PACKAGES = (
    *("atomic_files", "interrupts", "rearrange", "ver", "nav", "locomotion", "skills"),
    *("planner", "live", "console", "benchmarks", "experiments"),
)

# Modules without a test file of their own, by the reason. Shorten this list, do not let it grow.
EXCEPT = {
    "names, records or protocols only": (
        *("*/errors.py", "ver/shared/outcomes.py", "ver/collect/collector.py", "skills/spec.py"),
        *("rearrange/episodes/episode.py", "rearrange/sim/views.py", "planner/record.py"),
        "planner/takes.py",
        *(
            "skills/specs/*.py",
            "rearrange/navigation/layouts.py",
            "rearrange/sim/grip.py",
            "rearrange/robot/joint.py",
            "rearrange/scenes/apartment.py",
            "rearrange/scenes/floor_plans.py",
        ),
    ),
    "kernels and workers that only their caller reaches; its tests compare them with plain code": (
        *("rearrange/render/painting.py", "rearrange/render/projection.py"),
        *("rearrange/render/rays.py", "rearrange/render/shading.py", "rearrange/render/spans.py"),
        *(
            "nav/kernels.py",
            "nav/scan_kernels.py",
            "nav/worlds.py",
            "ver/collect/inference_worker.py",
        ),
        *("rearrange/batched/kernels.py", "rearrange/batched/contact_kernels.py"),
        *("rearrange/batched/memory.py", "rearrange/batched/records.py"),
    ),
    "furniture and decoration, judged by the homes they make: tests/rearrange/scenes": (
        *("rearrange/scenes/*furniture.py", "rearrange/scenes/*decoration.py"),
        *("rearrange/scenes/furnish*.py", "rearrange/scenes/building.py"),
        *("rearrange/scenes/rooms.py", "rearrange/scenes/home_kitchen.py"),
    ),
    "fields of files: test_schema.py beside it": ("rearrange/episodes/fields.py",),
    "only with habitat-sim: integration": (
        *("rearrange/habitat/engine*.py", "rearrange/habitat/orders.py"),
        *("rearrange/habitat/survey.py", "nav/mesh_*.py"),
        "skills/check_habitat.py",
    ),
    "the conformance test's own tools: test_conformance.py beside it": (
        "rearrange/testing/grasping.py",
        "rearrange/testing/tools.py",
    ),
    "steps of whole skills, which are played in the world": (
        *(
            "skills/oracle/oracle.py",
            "skills/oracle/beginnings.py",
            "skills/oracle/handle_*.py",
            "skills/oracle/reach.py",
        ),
        *("skills/oracle/skill.py", "skills/spa/navigate.py", "skills/spa/open_close.py"),
        *("skills/spa/place.py", "skills/observing.py", "skills/knowledge/policy.py"),
    ),
    "what the executive asks and judges: test_executive.py, test_replanning.py": (
        "planner/beliefs.py",
        "planner/judge.py",
    ),
    "what is run and what is claimed, as data: test_registry.py goes over all": (
        *("experiments/ver_*.py", "experiments/sf_*.py", "experiments/bps_*.py"),
        "experiments/flex_*.py",
    ),
    "programs that other benchmarks start, or that need what is not installed": (
        *("benchmarks/calibration.py", "benchmarks/drill_training.py"),
        *("benchmarks/habitat_lab_scene.py", "benchmarks/sample_factory_run.py"),
    ),
}
PATTERNS = [pattern for patterns in EXCEPT.values() for pattern in patterns]


def modules() -> list[Path]:
    """Every module of every package, packages' own and main programs left out."""
    found = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return [path.relative_to(ROOT) for path in found if path.stem not in ("__init__", "__main__")]


def its_test(module: Path) -> Path:
    return "tests" / module.with_name(f"test_{module.name}")


def is_of_something(test: Path) -> bool:
    """Whether a test file is named after a module, a package or a main program, or spans several."""
    if test.parent == Path("tests") or "integration" in test.parts:
        return True  # of the repository, or of several modules together
    folder, name = Path(*test.parts[1:-1]), test.stem.removeprefix("test_")
    named = (folder / f"{name}.py", folder / name, folder / f"__{name}__.py")
    return folder.name == name or any((ROOT / path).exists() for path in named)


def test_every_module_has_its_test_file():
    missing = [
        str(module)
        for module in modules()
        if not (ROOT / its_test(module)).is_file()
        and not any(fnmatch(str(module), pattern) for pattern in PATTERNS)
    ]
    assert missing == []


def test_every_test_file_is_of_a_module_or_spans_several():
    tests = (path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    assert [str(test) for test in tests if not is_of_something(test)] == []


def test_no_exception_is_left_over():
    """Of each pattern, at least one module that it is for has no test file."""
    bare = [str(module) for module in modules() if not (ROOT / its_test(module)).is_file()]
    unused = [p for p in PATTERNS if not any(fnmatch(module, p) for module in bare)]
    assert unused == []
