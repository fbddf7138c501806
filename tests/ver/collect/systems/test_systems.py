"""The systems: what is common to all of them."""

import inspect
from importlib.metadata import EntryPoint

import pytest

from tests.helpers.checked_system import check_system
from tests.helpers.small_runs import small_run
from ver.collect import systems
from ver.collect.collector import Collector
from ver.collect.systems import find_system, system_names
from ver.collect.systems.batched import BatchedCollector
from ver.errors import UserError


@pytest.mark.parametrize("system", system_names())
def test_a_collector_takes_what_the_trainer_gives_and_has_what_it_needs(system):
    kind = find_system(system)
    assert issubclass(kind, Collector)
    assert not inspect.isabstract(kind)
    methods = [name for name, value in vars(Collector).items() if inspect.isfunction(value)]
    assert "collect" in methods
    for name in methods:
        expected = inspect.signature(getattr(Collector, name)).parameters
        assert list(inspect.signature(getattr(kind, name)).parameters) == list(expected)


def test_an_unknown_system_is_refused_with_the_names_of_those_that_there_are():
    assert {"ver", "batched", "appo"} <= set(system_names())
    with pytest.raises(
        UserError, match=f"Unknown system 'vre'; valid: {', '.join(system_names())}"
    ):
        check_system("system=vre")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (["system=batched"], ""),
        (["system=ddppo"], ""),
        (["system=ver"], "a batch holds whoever has asked by then"),
        (["system=nover"], "a batch holds whoever has asked by then"),
        (["collect.min_requests=4"], ""),
        (["collect.min_requests=4", "collect.num_inference_workers=2"], "several processes decide"),
        (["collect.min_requests=4", "distributed.preemption=fixed"], "rollouts end early by"),
        (["system=ver", "deterministic=true"], ""),
        (["system=nover", "deterministic=true"], ""),
        (["system=htsrl"], "experience is collected beside learning"),
        (["system=appo"], "experience is collected beside learning"),
        (["device=cuda"], "a GPU sums in an order of its own"),
    ],
)
def test_why_runs_differ(settings, reason):
    found = systems.why_runs_differ(small_run(*settings))
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


@pytest.mark.parametrize("setting", ["system=appo", "system=htsrl", "collect.overlap=true"])
def test_what_cannot_repeat_is_refused_where_it_has_to(setting):
    with pytest.raises(
        UserError, match=r"deterministic=true cannot be had, as experience is .*: take"
    ):
        check_system("deterministic=true", setting)


def test_of_several_processes_none_but_the_first_repeats(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match=r"deterministic=true cannot be had, as processes other"):
        check_system("deterministic=true", "system=batched")


def test_another_package_brings_a_system_without_an_edit(monkeypatch):
    module = f"{BatchedCollector.__module__}:"
    points = [
        EntryPoint("theirs", module + "BatchedCollector", systems.GROUP),
        EntryPoint("broken", module + "Nothing", systems.GROUP),
        EntryPoint("ver", module + "BatchedCollector", systems.GROUP),
    ]
    asked = []
    monkeypatch.setattr(systems, "entry_points", lambda group: asked.append(group) or points)
    system_names.cache_clear()
    try:
        assert find_system("theirs") is BatchedCollector
        assert system_names()[-2:] == ("theirs", "broken")
        assert find_system("ver") is not BatchedCollector  # ours stay ours
        with pytest.raises(UserError, match=r"'broken' cannot be loaded from .*Nothing"):
            find_system("broken")
    finally:
        system_names.cache_clear()
    assert set(asked) == {"ver.systems"}
