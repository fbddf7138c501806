"""Systems before VER: every environment contributes the same number of steps to a rollout."""

from __future__ import annotations

from ver.collect.inference import BatchLimits
from ver.collect.systems.ver import VERCollector, check_one_batch
from ver.config import TrainerConfig
from ver.errors import UserError


class NoVERCollector(VERCollector):
    """VER without variable experience rollouts, the VER paper's own baseline (section 5.1).

    Requests are batched as they arrive, as VER does: a slow step holds up nobody else's next step.
    But the rollout ends with the slowest environment. Each environment's newest action is held
    back until the next policy decides, so all experience is on-policy.
    """

    fixed_length = True


class HTSRLCollector(NoVERCollector):
    """HTS-RL (Liu et al. 2020) as the VER paper implements it to compare with (appendix E).

    NoVER that collects the next rollout while the learner learns from the one before. Gradients
    are delayed by one rollout: a rollout is acted by the weights from before the learning that goes
    on beside it. Both wait for each other at its end.
    """

    always_overlaps = True


class DDPPOCollector(NoVERCollector):
    """DD-PPO's collection (Wijmans et al. 2020): all environments act, then all are stepped.

    Inference awaits all N observations and answers them as one batch, so every environment waits
    for the slowest one in each step. After a fault the others wait until its environment is back.
    """

    @classmethod
    def check(cls, config: TrainerConfig) -> None:
        """Refuses what lockstep leaves no room for.

        Raises:
            UserError: In one line that names the mend.
        """
        super().check(config)
        collect = config.collect
        if collect.overlap:
            raise UserError(
                "system=ddppo learns between rollouts; set collect.overlap=false, or "
                "system=htsrl for overlap."
            )
        if collect.num_inference_workers > 1:
            raise UserError(
                "system=ddppo decides for all environments in one batch; set "
                f"collect.num_inference_workers=1, found {collect.num_inference_workers}."
            )
        check_one_batch(config)

    @staticmethod
    def batch_limits(config: TrainerConfig) -> BatchLimits:
        """Batches hold all environments."""
        n = config.collect.num_environments
        return BatchLimits(n, n, config.collect.max_wait_ms * 1e-3, wake_first=True)


SYSTEMS = {"nover": NoVERCollector, "htsrl": HTSRLCollector, "ddppo": DDPPOCollector}
