"""The systems: what is common to all of them."""

import inspect

import pytest

from ver.collect.systems import SYSTEMS, Collector, _collector_class, check_system
from ver.config import TrainerConfig, merge_config
from ver.errors import UserError


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_collector_takes_what_make_collector_gives_and_has_what_the_trainer_needs(system):
    kind = _collector_class(system)
    parameters = inspect.signature(kind).parameters
    assert list(parameters)[:4] == ["config", "make_env", "policy", "seed"]
    assert list(parameters)[4:] == ["carried", "on_fault", "keep_going"]
    methods = [name for name, value in vars(Collector).items() if inspect.isfunction(value)]
    assert "collect" in methods
    for name in methods:
        if not name.startswith("_"):
            expected = inspect.signature(getattr(Collector, name)).parameters
            assert list(inspect.signature(getattr(kind, name)).parameters) == list(expected)


def test_an_unknown_system_is_refused_with_the_names_of_those_that_there_are():
    with pytest.raises(UserError, match=f"Unknown system 'vre'; valid: {', '.join(SYSTEMS)}"):
        check_system(merge_config(TrainerConfig, [], ["system=vre"]))


@pytest.mark.parametrize(
    ("overrides", "mend"),
    [
        (["system=ddppo", "collect.overlap=true"], r"collect\.overlap=false, or system=htsrl"),
        (["system=ddppo", "collect.num_inference_workers=2"], r"num_inference_workers=1, found 2"),
        (["system=ddppo", "collect.min_requests=3"], r"collect\.min_requests=0, found 3"),
        (["system=ddppo", "collect.max_requests=3"], r"collect\.max_requests=0, found 3"),
        (["system=htsrl", "distributed.preemption=fixed"], r"preemption=none, found fixed"),
        (["system=nover", "collect.overlap=true", "distributed.preemption=fixed"], "set one of"),
    ],
)
def test_settings_that_contradict_the_system_are_refused(overrides, mend):
    with pytest.raises(UserError, match=mend) as error:
        check_system(merge_config(TrainerConfig, [], overrides))
    assert "\n" not in str(error.value)
