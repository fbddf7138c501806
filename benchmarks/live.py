"""`python -m benchmarks.live`: what a page that shows a training costs it.

One training with live=true goes on while its page is, in turn, halted (as if there were none), served to
nobody, and looked at by a browser's connection, which takes everything and draws nothing: whoever looks sits
at another machine. The turns are short and follow each other, so that whatever else the machine does hits all
of them. Told are steps per second in each, their ratio to those with the page halted of the same round, and
which part of all processors' time the page's process takes: that is what a training on all of them can lose,
and it is told more finely than a ratio of speeds.

What a training with live=true costs over one without, page aside, is a read of a shared file in one step of
eight, and a sight eight times a second for who looks; these are timed, too, beside a step of the pure
simulation.
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
from dataclasses import dataclass, replace
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
SETTLE_S = 5.0  # of a turn that does not count: who comes gets the whole home at once
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


def _camera() -> bytes:
    """A browser's first message, its camera: before it the page takes nobody for a looker."""
    import msgspec

    return msgspec.msgpack.encode(
        {
            "type": "ViewerCameraMessage",
            **{"wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, 0.0, 5.0)},
            **{"fov": 1.0, "near": 0.01, "far": 1000.0, "image_height": 720, "image_width": 1280},
            **{"look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0)},
        }
    )


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

        connection.send(_camera())
        Thread(target=drain, daemon=True).start()
        yield taken


def _processor_time(process: int) -> float:
    """Seconds that a process with all its threads has computed."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Turn:
    """Figures of a turn.

    Attributes:
        rate: Steps per second.
        share: Part of all processors' time that the page took.
        messages: How many a looker took.
    """

    rate: float
    share: float
    messages: int = 0


def take_turn(training: Watched, turn: str, seconds: float) -> Turn:
    """One turn."""
    os.kill(training.page, signal.SIGSTOP if turn == HALTED else signal.SIGCONT)

    def measure() -> Turn:
        time.sleep(SETTLE_S)
        before, computed, begin = (
            len(training.rows()), _processor_time(training.page), time.monotonic()
        )  # fmt: skip
        time.sleep(seconds)
        computed, passed = _processor_time(training.page) - computed, time.monotonic() - begin
        rows = training.rows()[before - 1 :]
        if len(rows) < 3:
            raise UserError("a turn is too short for the training's rows: raise --seconds")
        steps, took = (rows[-1][key] - rows[0][key] for key in ("steps", "seconds"))
        return Turn(steps / took, computed / passed / (os.cpu_count() or 1))

    if turn != LOOKED_AT:
        return measure()
    with looking(training.address) as taken:
        seen = measure()
        if len(taken) < seconds:
            raise UserError(
                f"the page sent {len(taken)} messages to who looked at it: no moving picture"
            )
        return replace(seen, messages=len(taken))


def window_cost(skill: str, steps: int, seed: int) -> dict[str, float]:
    """Microseconds of a step of a world with its image, of a window without who looks, and of a sight."""
    settings = load_settings(skill, ["sensors=depth", "starts.paths=[]"])
    env: Any = make_environments(settings)(0, seed)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peek"
        Peek.create(path, 1)
        peek = Peek(path)
        eye = WorldEye(env)
        window = Window(peek, 0, 1, eye)
        step_s = window_s = sight_s = 0.0
        for k in range(2 * steps):
            begin = time.perf_counter()
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            stepped = time.perf_counter()
            window.show()
            shown = time.perf_counter()
            peek.put(eye.look(0, 0))
            if k >= steps:  # the first half compiles
                step_s += stepped - begin
                window_s += shown - stepped
                sight_s += time.perf_counter() - shown
            if terminated or truncated:
                env.reset()
        peek.close()
    env.close()
    seconds = {"step_us": step_s, "window_us": window_s, "sight_us": sight_s}
    return {name: 1e6 * each / steps for name, each in seconds.items()}


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
    """Rates, ratios and the page's part of all turns, by turn."""
    seen: dict[str, list[Turn]] = {turn: [] for turn in TURNS}
    with tempfile.TemporaryDirectory() as folder:
        training = Watched(options.skill, Path(folder) / "run", options.seed)
        try:
            for each in range(options.rounds):
                # In another order each time: a trend of the machine hits none of them more
                for turn in np.roll(TURNS, each).tolist():
                    seen[turn].append(take_turn(training, turn, options.seconds))
                print(f"round {each + 1} of {options.rounds}", file=sys.stderr, flush=True)
        finally:
            training.end()
    rates = {turn: [each.rate for each in seen[turn]] for turn in TURNS}
    ratios = {turn: np.divide(rates[turn], rates[HALTED]).tolist() for turn in TURNS[1:]}
    shares = {turn: [each.share for each in seen[turn]] for turn in TURNS[1:]}
    return {
        "messages_taken": sum(each.messages for each in seen[LOOKED_AT]),
        "turns": {
            turn: {"steps_per_second": median(rates[turn]), "each": rates[turn]} for turn in TURNS
        },
        "page_shares": {
            turn: {**median_interval(shares[turn]), "each": shares[turn]} for turn in shares
        },
        "ratios": {
            turn: {**median_interval(ratios[turn]), "each": ratios[turn]} for turn in ratios
        },
    }


def show(found: dict[str, Any]) -> None:
    """Prints the tables."""
    table = Table(title="a training and its page")
    for name in ("page", "steps/s", "of halted", "page's part"):
        table.add_column(name, justify="left" if name == "page" else "right")
    for turn, each in found["turns"].items():
        told = [
            f"{100 * e['median']:.1f} % ({100 * e['low']:.1f} to {100 * e['high']:.1f})"
            if e
            else ""
            for e in (found[key].get(turn) for key in ("ratios", "page_shares"))
        ]
        table.add_row(turn, f"{each['steps_per_second']:,.0f}", *told)
    Console().print(table)
    window = found["window"]
    print(
        f"a window that nobody looks through: {window['window_us']:.2f} us a step of "
        f"{window['step_us']:,.0f} us; a sight {window['sight_us']:,.0f} us"
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
    found = {"window": window_cost(options.skill, options.steps, options.seed)} | measure(options)
    show(found)
    if options.json:
        write_result(options.json, {"made": origin, "skill": options.skill, **found})
    return 0


if __name__ == "__main__":
    run_command(main)
