"""`python -m benchmarks.live`: what a page that shows a training costs it.

One training with live=true goes on while its page is, in turn, halted (as if there were none), served to
nobody, and looked at by a browser's connection, which takes everything and draws nothing: whoever looks sits
at another machine. The turns are short and follow each other, so that whatever else the machine does hits all
of them. Told are steps per second in each, and their ratio to those with the page halted of the same round.

What a training with live=true costs over one without, page aside, is one read of a shared file in each step;
that is timed too, beside a step of the pure simulation.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.errors import UserError
from skills.command import run_command
from skills.peek import Peek, Window
from skills.provenance import made, write_result
from skills.registry import skill_names
from skills.settings import make_environments
from skills.sight import WorldEye
from skills.train import load_settings

HALTED, NOBODY, LOOKED_AT = "halted", "nobody", "looked at"
TURNS = (HALTED, NOBODY, LOOKED_AT)
SETTLE_S = 2.0  # of a turn that does not count
WAIT_S = 180.0  # for the page, and for the first figures
ROLLOUT = 32  # steps: short, so that a turn has many rows
ROOT = Path(__file__).resolve().parent.parent


class Watched:
    """A training that can be watched, and its page.

    Attributes:
        address: Of the page: host and port.
    """

    def __init__(self, skill: str, run: Path, seed: int) -> None:
        """Start it, and wait until it learns."""
        words = [
            f"run={run}", "live=true", f"trainer.collect.rollout_length={ROLLOUT}",
            f"trainer.seed={seed}", "trainer.total_steps=1000000000", "starts.paths=[]",
        ]  # fmt: skip
        self._log = (run.parent / "training.log").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "skills.train", skill, *words],
            cwd=ROOT, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self._run = run
        self._wait(lambda: len(self.rows()) > 5)
        self.page = self._wait(lambda: _child(self.process.pid, b"--watch"))
        self.address = self._wait(self._find_address)

    def _find_address(self) -> str:
        words = (self._run.parent / "training.log").read_text(errors="replace").split()
        return next((w.removeprefix("http://") for w in words if w.startswith("http://")), "")

    def _wait(self, find: Any) -> Any:
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until and self.process.poll() is None:
            if found := find():
                return found
            time.sleep(0.2)
        log = (self._run.parent / "training.log").read_text(errors="replace")
        raise UserError("the training did not begin: " + " ".join(log.split()[-30:]))

    def rows(self) -> list[dict[str, float]]:
        """The log so far."""
        files = [*self._run.glob("*/metrics.jsonl"), *self._run.glob("metrics.jsonl")]
        rows: list[dict[str, float]] = []
        for line in files[0].read_text().splitlines() if files else ():
            with suppress(ValueError):  # a line that is just being written
                rows.append(json.loads(line))
        return rows

    def end(self) -> None:
        """End training and page."""
        with suppress(ProcessLookupError):
            os.kill(self.page, signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(60.0)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        self._log.close()


def _child(parent: int, word: bytes) -> int:
    """The child process whose command line has a word, or 0."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError):
            status = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            if int(status[1]) == parent and word in Path(f"/proc/{entry}/cmdline").read_bytes():
                return int(entry)
    return 0


@contextmanager
def looking(address: str) -> Iterator[list[int]]:
    """A browser's connection to a page; yields a list that grows by the size of each message."""
    import viser
    from websockets.sync.client import connect

    protocol: Any = f"viser-v{viser.__version__}"
    taken: list[int] = []
    with connect(f"ws://{address}", subprotocols=[protocol], max_size=None) as connection:

        def drain() -> None:
            with suppress(Exception):  # it ends as the connection is closed
                taken.extend(map(len, connection))

        Thread(target=drain, daemon=True).start()
        yield taken


def take_turn(training: Watched, turn: str, seconds: float) -> tuple[float, int]:
    """Steps per second in a turn, and messages that a looker took."""
    os.kill(training.page, signal.SIGSTOP if turn == HALTED else signal.SIGCONT)

    def measure() -> float:
        time.sleep(SETTLE_S)
        before = len(training.rows())
        time.sleep(seconds)
        rows = training.rows()[before - 1 :]
        if len(rows) < 3:
            raise UserError("a turn is too short for the training's rows: raise --seconds")
        return (rows[-1]["steps"] - rows[0]["steps"]) / (rows[-1]["seconds"] - rows[0]["seconds"])

    if turn != LOOKED_AT:
        return measure(), 0
    with looking(training.address) as taken:
        rate = measure()
        if not taken:
            raise UserError("the page sent nothing to who looked at it")
        return rate, len(taken)


def idle_cost(skill: str, steps: int, seed: int) -> dict[str, float]:
    """Microseconds of a step of one world with its image, and of a window that nobody looks through."""
    settings = load_settings(skill, ["sensors=depth", "starts.paths=[]"])
    env: Any = make_environments(settings)(0, seed)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peek"
        Peek.create(path, 1)
        peek = Peek(path)
        window = Window(peek, 0, 1, WorldEye(env))
        step_s = window_s = 0.0
        for k in range(2 * steps):
            begin = time.perf_counter()
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            middle = time.perf_counter()
            window.show()
            if k >= steps:  # the first half compiles
                step_s += middle - begin
                window_s += time.perf_counter() - middle
            if terminated or truncated:
                env.reset()
        peek.close()
    env.close()
    return {"step_us": 1e6 * step_s / steps, "window_us": 1e6 * window_s / steps}


def median_interval(values: Sequence[float]) -> dict[str, float]:
    """The median, and its 95 % interval: the innermost ordered values that hold it so often.

    With fewer than six values these are the least and the largest, and hold it less often.
    """
    ordered, n = sorted(values), len(values)
    outside, k = 0.5**n, 0  # chance that the median is below the k-th value from below
    while k < (n - 1) // 2 and outside + math.comb(n, k + 1) * 0.5**n <= 0.025:
        k += 1
        outside += math.comb(n, k) * 0.5**n
    return {"median": median(ordered), "low": ordered[k], "high": ordered[n - 1 - k]}


def measure(options: Any) -> dict[str, Any]:
    """Rates and ratios of all turns, by turn."""
    rates: dict[str, list[float]] = {turn: [] for turn in TURNS}
    messages = 0
    with tempfile.TemporaryDirectory() as folder:
        training = Watched(options.skill, Path(folder) / "run", options.seed)
        try:
            for each in range(options.rounds):
                # In another order each time: a trend of the machine hits none of them more
                for turn in np.roll(TURNS, each).tolist():
                    rate, taken = take_turn(training, turn, options.seconds)
                    rates[turn].append(rate)
                    messages += taken
                print(f"round {each + 1} of {options.rounds}", file=sys.stderr, flush=True)
        finally:
            training.end()
    ratios = {turn: np.divide(rates[turn], rates[HALTED]).tolist() for turn in TURNS[1:]}
    return {
        "messages_taken": messages,
        "turns": {
            turn: {"steps_per_second": median(rates[turn]), "each": rates[turn]} for turn in TURNS
        },
        "ratios": {
            turn: {**median_interval(ratios[turn]), "each": ratios[turn]} for turn in ratios
        },
    }


def show(found: dict[str, Any]) -> None:
    """Prints the tables."""
    table = Table(title="a training and its page")
    for name in ("page", "steps/s", "of halted"):
        table.add_column(name, justify="left" if name == "page" else "right")
    for turn, each in found["turns"].items():
        ratio = found["ratios"].get(turn)
        told = f"{ratio['median']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f})" if ratio else ""
        table.add_row(turn, f"{each['steps_per_second']:,.0f}", told)
    Console().print(table)
    idle = found["idle"]
    print(
        f"a window that nobody looks through: {idle['window_us']:.2f} us a step of {idle['step_us']:,.0f} us"
    )


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.live", description=__doc__)
    parser.add_argument("--skill", default="pick", help="what is trained (pick)")
    parser.add_argument("--rounds", type=int, default=10, help="of the three turns (10)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of a turn (10)")
    parser.add_argument("--steps", type=int, default=2000, help="of one world (2000)")
    parser.add_argument("--seed", type=int, default=1, help="of the training (1)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "rounds", "steps")
    if options.skill not in skill_names():
        raise UserError(f"--skill: unknown '{options.skill}'")
    if not 1.0 <= options.seconds <= 600.0:
        raise UserError("--seconds must be from 1 to 600")
    return options


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    options = parse(arguments)
    origin = made(
        "benchmarks.live", arguments, what="a page that shows a training", seed=options.seed
    )
    found = {"idle": idle_cost(options.skill, options.steps, options.seed)} | measure(options)
    show(found)
    if options.json:
        write_result(options.json, {"made": origin, "skill": options.skill, **found})
    return 0


if __name__ == "__main__":
    run_command(main)
