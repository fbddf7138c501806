"""Worlds that show torch tensors, as those on a device do: made of any that show arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv, VectorWrapper

from ver.collect.worlds import make_worlds


@dataclass
class OnDevice:
    """Makes the same worlds as `make_env`, which show tensors and want actions as such."""

    make_env: Any

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        worlds = make_worlds(self.make_env, count, seed)
        return (TensorWorldsTakenUp if getattr(worlds, "takes_up", False) else TensorWorlds)(worlds)


class TensorWorlds(VectorWrapper):
    """Tensors [N, ...] in and out; what an episode ended with is a dict of them, too."""

    metadata = property(lambda self: self.env.metadata)

    def reset(self, *, seed=None, options=None):
        observations, infos = self.env.reset(seed=seed, options=options)
        return as_tensors(observations), infos

    def step(self, actions):
        assert isinstance(actions, torch.Tensor)
        observations, *ends, infos = self.env.step(actions.numpy())
        if "final_obs" in infos:
            infos["final_obs"] = as_tensors(self._whole(infos["final_obs"], observations))
        metrics = infos.get("final_info", {}).get("metrics")
        if isinstance(metrics, dict):
            infos["final_info"]["metrics"] = as_tensors(metrics)
        return as_tensors(observations), *as_tensors(dict(enumerate(ends))).values(), infos

    @staticmethod
    def _whole(final, observations):
        """One array per key [N, ...], of any content where no episode ended."""
        whole = {key: np.full_like(value, 7) for key, value in observations.items()}
        for index in np.flatnonzero([own is not None for own in final]):
            for key in whole:
                whole[key][index] = final[index][key]
        return whole


class TensorWorldsTakenUp(TensorWorlds):
    """Of worlds that go on in mid-episode when a run is resumed."""

    takes_up = True

    def begin(self, *arguments):
        observations, returns = self.env.begin(*arguments)
        return as_tensors(observations), returns


def as_tensors(values: dict[Any, Any]) -> dict[Any, torch.Tensor]:
    return {key: torch.as_tensor(np.asarray(value)) for key, value in values.items()}
