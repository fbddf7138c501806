"""Stands in for mjlab, which few machines have: a task whose worlds count."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import torch


class Counters:
    """As ManagerBasedRlEnv without restarts: world i counts to i + 2, then its time is out.

    It writes into the same tensors every time.
    """

    def __init__(self, count: int, bound: float = np.inf):
        self.num_envs = count
        box = SimpleNamespace(shape=(1,), low=-np.inf, high=np.inf)
        self.single_observation_space = SimpleNamespace(spaces={"actor": box, "critic": box})
        self.single_action_space = SimpleNamespace(shape=(2,), low=-bound, high=(bound, np.inf))
        self.counts = torch.zeros(count, 1)
        self.truncated = torch.zeros(count, dtype=torch.bool)
        self.pending = set()
        self.closed = False

    def _show(self):
        return {"actor": self.counts, "critic": self.counts}, {}

    def reset(self, *, seed=None, env_ids=None):
        self.seed = seed
        self.counts[slice(None) if env_ids is None else env_ids] = 0.0
        self.pending -= set(range(self.num_envs) if env_ids is None else env_ids.tolist())
        self.truncated[:] = False
        return self._show()

    def step(self, actions):
        assert not self.pending, "must be reset first"
        assert actions.shape == (self.num_envs, 2)
        self.counts += 1.0
        self.truncated[:] = self.counts[:, 0] == torch.arange(self.num_envs) + 2
        self.pending = set(self.truncated.nonzero().flatten().tolist())
        observations, extras = self._show()
        return observations, actions[:, 0], torch.zeros_like(self.truncated), self.truncated, extras

    def close(self):
        self.closed = True


def install_stand_in(monkeypatch) -> list[tuple[int, str]]:
    """Lets `import mjlab` find a library with the one task "Counters".

    Returns:
        Count and device of all worlds that are made from now on.
    """
    made = []

    def make(config, device):
        assert config.auto_reset is False
        made.append((config.scene.num_envs, device))
        return Counters(config.scene.num_envs)

    parts = {
        "mjlab": {},
        "mjlab.tasks": {},
        "mjlab.envs": {"ManagerBasedRlEnv": make},
        "mjlab.tasks.registry": {
            "list_tasks": lambda: ["Counters"],
            "load_env_cfg": lambda task: SimpleNamespace(scene=SimpleNamespace()),
        },
    }
    for name, contents in parts.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    return made
