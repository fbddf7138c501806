"""NoVER, HTS-RL and DD-PPO: settings that they have no room for, and DD-PPO's batches."""

import pytest

from tests.helpers.checked_system import check_system
from ver.collect.systems.fixed_length import DDPPOCollector
from ver.config import TrainerConfig, merge_config
from ver.errors import UserError


@pytest.mark.parametrize(
    ("overrides", "mend"),
    [
        (["system=ddppo", "collect.overlap=true"], r"collect\.overlap=false, or system=htsrl"),
        (["system=ddppo", "collect.num_inference_workers=2"], r"num_inference_workers=1, found 2"),
        (["system=ddppo", "collect.min_requests=3"], r"collect\.min_requests=0, found 3"),
        (["system=ddppo", "collect.max_requests=3"], r"collect\.max_requests=0, found 3"),
        (["system=batched", "collect.min_requests=3"], r"collect\.min_requests=0, found 3"),
        (["system=batched", "collect.max_requests=3"], r"collect\.max_requests=0, found 3"),
        (["deterministic=true", "collect.min_requests=3"], "deterministic=true decides for all"),
        (["system=htsrl", "distributed.preemption=fixed"], r"preemption=none, found fixed"),
        (
            ["system=nover", "collect.overlap=true", "distributed.preemption=fixed"],
            r"set one of",
        ),
    ],
)
def test_settings_that_contradict_the_system_are_refused(overrides, mend):
    with pytest.raises(UserError, match=mend) as error:
        check_system(*overrides)
    assert "\n" not in str(error.value)


def test_a_batch_holds_all_environments_and_workers_wake_before_it_is_written():
    config = merge_config(TrainerConfig, [], ["system=ddppo", "collect.num_environments=6"])
    limits = DDPPOCollector.batch_limits(config)
    assert (limits.minimum, limits.maximum, limits.wake_first) == (6, 6, True)
