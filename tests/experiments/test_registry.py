"""All experiments: what they run exists, and what they claim can be judged."""

import json
import re

import pytest

import experiments
from experiments.arms import Breakdown, Distances, Population, Throughput, Training
from experiments.chains import INTERACTIONS, Chain
from experiments.claims import told_reference
from experiments.experiment import POINTS
from experiments.flex_ant import WORLDS, Running
from experiments.registry import EXPERIMENTS, PAPERS, found
from nav.buildings import building_names
from skills.command import json_text
from skills.ledger import LARGEST
from skills.train import load_stages
from tests.helpers import ROOT
from ver.adapters.libraries import own_settings
from ver.collect.systems import checked_system, system_names
from ver.config import TrainerConfig, merge_config

EACH = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
FIGURES = {  # of the rows, by the kind of arm
    Training: {
        *("success", "spl", "mean_success", "mean_spl", "steps_to_half", "seconds_to_half"),
        *("steps_per_s", "policy_lag", "stale_share"),
    },
    Chain: {"success", *(f"after_{k + 1}" for k in range(INTERACTIONS)), "pick_alone"},
    Throughput: {"mean_sps", "max_sps", "mean_of_max", "share_of_limit", "limit_sps"},
    Breakdown: {
        *("steps_per_s", "simulation_per_s", "network_share"),
        *("learning_share", "inference_share", "simulation_share"),
        *("learning_us", "inference_us", "simulation_us", "network_us"),
    },
    Running: {"return", "speed", "steps_to_run", "seconds_to_run", "steps_per_s"},
}
FIGURES[Population] = FIGURES[Training]
NEW = """
from dataclasses import replace
from experiments.ver_table1 import EXPERIMENT as TABLE
EXPERIMENT = replace(TABLE, name="ver_table9")
"""


def test_a_file_is_found_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "ver_table9.py").write_text(NEW)
    (tmp_path / "vertical.py").write_text("raise AssertionError")
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(tmp_path)])
    names = [each.name for each in found()]
    assert names.index("ver_table9") == names.index("ver_table1") + 1
    assert names == sorted(names, key=lambda name: PAPERS.index(name.split("_")[0]))
    assert set(names) - {"ver_table9"} == EXPERIMENTS.keys()


def figures_of(arm) -> set[str]:
    if isinstance(arm, Distances):
        return {f"success_at_{each:g}" for each in arm.distances}
    return FIGURES[type(arm)]


@EACH
def test_claims_name_arms_and_figures_that_there_are(experiment):
    arms = {arm.name: figures_of(arm) for arm in experiment.arms(False)}
    for claim in experiment.claims:
        for name in filter(None, (claim.arm, claim.other)):
            assert claim.figure in arms[name], claim.text
    assert all(experiment.figures.keys() <= names for names in arms.values())


@EACH
def test_references_are_kept(experiment):
    references = json.loads((ROOT / "results" / "references.json").read_text())
    for claim in experiment.claims:
        told_reference(references, claim.reference)


def test_no_reference_is_left_over():
    pages = " ".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    used = [claim.reference for each in EXPERIMENTS.values() for claim in each.claims]
    told = f"{pages} {' '.join(used)} "
    for name, entry in json.loads((ROOT / "results" / "references.json").read_text()).items():
        for key in entry.keys() - {"source"}:
            assert re.search(rf"\b{name}\.{key}\b", told), f"nothing uses {name}.{key}"


@EACH
@pytest.mark.parametrize("quick", [True, False])
def test_names_tell_arms_and_commands_apart(experiment, quick, tmp_path):
    names = [arm.name for arm in experiment.arms(quick)]
    assert len(set(names)) == len(names)
    jobs = experiment.jobs(quick, 2, tmp_path)
    assert len({job.arguments for job in jobs}) == len(jobs)
    if quick:
        assert set(names) <= {arm.name for arm in experiment.arms(False)}


def trainings(quick):
    """All arms that train, one of those with the same settings."""
    found = {}
    for experiment in EXPERIMENTS.values():
        for arm in experiment.arms(quick):
            for each in arm.trainings if isinstance(arm, Distances | Chain) else (arm,):
                found.setdefault(
                    (each.task, each.settings) if isinstance(each, Training) else each, each
                )
    return found.values()


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_settings_of_trainings_are_allowed(quick):
    for arm in trainings(quick):
        if isinstance(arm, Training):
            for stage in load_stages(arm.task, arm.settings):
                checked_system(stage.trainer)
        elif isinstance(arm, Throughput):
            assert arm.system in system_names()
        elif isinstance(arm, Running):
            own = own_settings(WORLDS, arm.count)
            checked_system(merge_config(TrainerConfig, [], [*own, *arm.settings]))
        else:
            (settings,) = load_stages("pointnav", arm.settings)
            checked_system(settings.trainer)
            if settings.sharing.scenes:
                there = len(building_names("classic", "val"))  # benchmarks.navigation's
                settings.sharing.check(settings.trainer.collect.num_environments, there)


def test_the_largest_result_fits_into_the_ledger():
    line = [0.1234] * POINTS
    lines = {axis: dict.fromkeys(("grid", "mean", "low", "high"), line) for axis in "st"}
    for experiment in EXPERIMENTS.values():
        arms = experiment.arms(False)
        row = {"arm": "a" * 30, "seed": 1} | dict.fromkeys(
            max(map(figures_of, arms), key=len), 12340.0
        )
        told = {
            "curves": {arm.name: dict.fromkeys(experiment.curves, lines) for arm in arms},
            "rows": [row] * 5 * len(arms),
            "claims": [claim.judge([]) | {"ours": row} for claim in experiment.claims],
        }  # fmt: skip
        assert len(json_text(told)) < LARGEST - 5000, experiment.name


@EACH
def test_what_runs_beside_another_has_all_its_commands(experiment, tmp_path):
    if experiment.beside:
        other = EXPERIMENTS[experiment.beside]
        assert (other.beside, other.timed) == ("", experiment.timed)
        assert {*experiment.jobs(False, 2, tmp_path)} <= {*other.jobs(False, 2, tmp_path)}
