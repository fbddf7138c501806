"""`python -m tests.helpers.counting_training DIR`: logs rows like a training, and ends if its one worker does.

It goes on from its last row.
"""

import json
import os
import sys
import time
from pathlib import Path

from ver.collect.processes import enter_worker, start_process


def sleep(trainer: int) -> None:
    enter_worker(trainer)
    time.sleep(60.0)


def main(folder: str) -> None:
    path = Path(folder) / "metrics.jsonl"
    path.parent.mkdir(exist_ok=True)
    rows = path.read_text().splitlines() if path.exists() else []
    worker = start_process("sleeper", sleep, os.getpid())
    steps = json.loads(rows[-1])["steps"] if rows else 0
    while worker.is_alive():
        steps += 10
        with path.open("a") as file:
            row = {"steps": steps, "episode/success": 0.5, "faults/died": 1.0}
            file.write(json.dumps(row) + "\n")
        time.sleep(0.02)
    sys.exit("the sleeper died")


if __name__ == "__main__":
    from tests.helpers import counting_training  # workers do not import the script

    counting_training.main(sys.argv[1])
