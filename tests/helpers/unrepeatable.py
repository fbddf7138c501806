"""An environment that does not repeat what it did."""

from benchmarks.faulty_environments import Trails


class Unrepeatable(Trails):
    """Its episodes have other lives than those of the run before."""

    def __call__(self, index, seed):
        env = super().__call__(index, seed)
        reset = env.reset
        env.reset = lambda *, seed=None, options=None: reset(seed=seed + 1, options=options)
        return env
