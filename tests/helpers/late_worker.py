"""An environment worker that is slow to ask for its first actions; it imports no learner, so it starts soon."""

import time

from ver.collect import environment_worker


def slow_to_ask(spec) -> None:
    """Does what a worker does, but waits once before its requests are there."""
    flush = environment_worker.EnvironmentWorker.flush

    def late(worker):
        environment_worker.EnvironmentWorker.flush = flush  # once
        time.sleep(0.2)
        flush(worker)

    environment_worker.EnvironmentWorker.flush = late
    environment_worker.run_environment_worker(spec)
