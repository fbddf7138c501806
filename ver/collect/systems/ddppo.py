"""DD-PPO's collection (Wijmans et al. 2020): all environments act, then all are stepped."""

from __future__ import annotations

from ver.collect.inference import BatchLimits
from ver.collect.systems.ver import VERCollector
from ver.config import TrainerConfig
from ver.errors import UserError


class DDPPOCollector(VERCollector):
    """Collects T steps from every environment in lockstep, with two barriers per step.

    Inference awaits all N observations and answers them as one batch, so every environment waits
    for the slowest one in each step. After a fault the others wait until its environment is back.
    """

    fixed_length = True

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
        for name in ("min_requests", "max_requests"):
            if getattr(collect, name) not in (0, collect.num_environments):
                raise UserError(
                    "system=ddppo decides for all environments in one batch; set "
                    f"collect.{name}=0, found {getattr(collect, name)}."
                )

    @staticmethod
    def batch_limits(config: TrainerConfig) -> BatchLimits:
        """Batches hold all environments."""
        n = config.collect.num_environments
        return BatchLimits(n, n, config.collect.max_wait_ms * 1e-3, wake_first=True)


SYSTEM = DDPPOCollector
