import subprocess
import sys
from types import SimpleNamespace

import gymnasium

from tests.helpers import ROOT
from ver.collect import environment_worker
from ver.collect.environment_worker import episode_seed


def test_environment_is_told_the_number_of_its_episode():
    told = []

    class Told(gymnasium.Env):
        def reset(self, *, seed=None, options=None):
            told.append((seed, options))
            return {}, {}

    worker = object.__new__(environment_worker.EnvironmentWorker)
    worker.spec, worker.first, worker.envs = SimpleNamespace(seed=3), 4, [Told(), Told()]
    worker.start(1, 7)
    assert told == [(episode_seed(3, 5, 7), {"episode_number": 7})]


def test_episode_seeds_differ():
    seeds = {episode_seed(1, i, k) for i in range(20) for k in range(20)}
    assert len(seeds) == 400
    assert episode_seed(1, 2, 3) == episode_seed(1, 2, 3) != episode_seed(2, 2, 3)


def test_an_environment_worker_loads_no_torch():
    code = "import sys, ver.collect.environment_worker; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
