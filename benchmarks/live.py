"""`python -m benchmarks.live`: what a page that shows a training costs it.

Three trainings with the same seed do the same work: one without a page, one with a page that nobody looks at,
one at whose page a browser's connection looks. It takes everything and draws nothing: whoever looks sits at
another machine. They go on in turn, for a second at a time, while the other two are halted, so that whatever
else the machine does hits all three. For each stretch of the same steps it is told how long each was at it,
and besides which part of all processors' time the page's process takes.

What a step pays for a window that nobody looks through, and what a sight takes, is timed beside a step of the
pure simulation.
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
from contextlib import ExitStack, contextmanager, suppress
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
from ver.collect.systems import find_system
from ver.public import ROOT

PLAIN, NOBODY, LOOKED_AT = "no page", "nobody", "looked at"
KINDS = (PLAIN, NOBODY, LOOKED_AT)
SLICE_S, POLL_S = 1.0, 0.02  # that one goes on alone, and between looks at its log
WAIT_S = 300.0  # for the page, and for the first figures
ROLLOUT = 32  # steps: short, so that a stretch has many rows
SAME = (
    "steps",
    "episode/return",
    "episode/success",
    "loss/value_loss",
)  # of rows, where the work is


class Training:
    """A training, with its page or without.

    Attributes:
        kind: One of KINDS.
        page: Process of the page; 0: none.
        address: Of the page: host and port.
        rows: Of the log so far.
        before: How many of them are from before the turns.
        passed: For each row since, how long the training had been at it when it was there [s].
        page_s: Seconds that the page has computed, by rows likewise.
        taken: Sizes of the messages that who looks was sent.
    """

    def __init__(self, kind: str, folder: Path, options: Any) -> None:
        """Start it, wait until it learns, and halt it."""
        self.kind, self._folder, self._run = kind, folder, folder / "run"
        folder.mkdir()
        words = [
            f"run={self._run}", f"live={str(kind != PLAIN).lower()}", f"trainer.seed={options.seed}",
            f"trainer.system={options.system}", f"trainer.collect.rollout_length={ROLLOUT}",
            "trainer.total_steps=1000000000", "starts.paths=[]",
        ]  # fmt: skip
        self._log = (folder / "training.log").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "skills.train", options.skill, *words],
            cwd=ROOT, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self.rows: list[dict[str, float]] = []
        self.passed: list[float] = []
        self.page_s: list[float] = []
        self.taken: list[int] = []
        self._looker = ExitStack()
        self._active, self.before, self.page, self.address = 0.0, 0, 0, ""
        self._wait(lambda: self._read() and len(self.rows) > 5)
        if kind != PLAIN:
            self.page = self._wait(lambda: _child(self.process.pid, b"--watch"))
            self.address = self._wait(self._find_address)
        if kind == LOOKED_AT:
            self.taken = self._looker.enter_context(looking(self.address))
        self._signal(signal.SIGSTOP)
        self._read()
        self.before = len(self.rows)

    def _find_address(self) -> str:
        words = (self._folder / "training.log").read_text(errors="replace").split()
        return next((w.removeprefix("http://") for w in words if w.startswith("http://")), "")

    def _wait(self, find: Any) -> Any:
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until and self.process.poll() is None:
            if found := find():
                return found
            time.sleep(0.2)
        log = (self._folder / "training.log").read_text(errors="replace")
        self.end()
        raise UserError("the training did not begin: " + " ".join(log.split()[-30:]))

    def _signal(self, number: int) -> None:
        """Halt or continue training and page."""
        os.killpg(self.process.pid, number)
        if self.page:
            os.kill(self.page, number)

    def _read(self) -> bool:
        """Take the rows that are new; True if any were."""
        files = [*self._run.glob("*/metrics.jsonl"), *self._run.glob("metrics.jsonl")]
        lines = files[0].read_bytes().splitlines(keepends=True) if files else []
        new = [json.loads(each) for each in lines[len(self.rows) :] if each.endswith(b"\n")]
        self.rows += new
        return bool(new)

    def go_on(self, seconds: float) -> None:
        """Let it go on alone for a while."""
        begin = time.monotonic()
        self._signal(signal.SIGCONT)
        while (now := time.monotonic() - begin) < seconds:
            time.sleep(POLL_S)
            if self._read():
                new = len(self.rows) - self.before - len(self.passed)
                self.passed += [self._active + now] * new
                self.page_s += [processor_time(self.page) if self.page else 0.0] * new
        self._signal(signal.SIGSTOP)
        self._active += time.monotonic() - begin

    def at(self, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Seconds that it had been at it after so many steps [S], and that its page had computed."""
        known = [row["steps"] for row in self.rows[self.before :]]
        passed, computed = (np.interp(steps, known, each) for each in (self.passed, self.page_s))
        return passed, computed

    def end(self) -> None:
        """End training and page."""
        self._looker.close()
        with suppress(ProcessLookupError):
            self._signal(signal.SIGCONT)
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


def processor_time(process: int) -> float:
    """Seconds that a process with all its threads has computed."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


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
    """Seconds of all stretches, their ratios, and the page's part, by kind."""
    trainings: list[Training] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for number, kind in enumerate(KINDS):
                print(f"the training with '{kind}' starts", file=sys.stderr, flush=True)
                trainings.append(Training(kind, Path(folder) / str(number), options))
            take_turns(trainings, options)
        finally:
            for training in trainings:
                training.end()
    taken = trainings[-1].taken
    if len(taken) < options.seconds:
        raise UserError(f"the page sent {len(taken)} messages to who looked: no moving picture")
    return {**compared(trainings, options.stretches), "messages_taken": len(taken)}


def take_turns(trainings: Sequence[Training], options: Any) -> None:
    """Let each go on for so many seconds, a slice at a time, in another order in each round."""
    for each in range(max(1, round(options.seconds / SLICE_S))):
        for training in np.roll(np.array(trainings, object), each):
            training.go_on(SLICE_S)
        if each % 20 == 19:
            print(f"{each + 1:,} s of {options.seconds:,.0f}", file=sys.stderr, flush=True)


def compared(trainings: Sequence[Training], stretches: int) -> dict[str, Any]:
    """Comparison of what the same steps took each.

    Returns:
        `steps` from which to which; `same_work`, True if all have the same figures in them; `seconds` of
        each stretch, by kind; `ratios` of speeds to that without a page, and `page_shares` of all
        processors' time, with their medians and intervals.

    Raises:
        UserError: There are too few rows.
    """
    known = [[row["steps"] for row in each.rows[each.before :]] for each in trainings]
    if min(map(len, known)) < 3 * stretches:
        raise UserError("too few figures for so many stretches: raise --seconds")
    first, last = max(k[0] for k in known), min(k[-1] for k in known)
    bounds = np.linspace(first, last, stretches + 1)
    seconds = {each.kind: np.diff(each.at(bounds)[0]) for each in trainings}
    computed = {each.kind: np.diff(each.at(bounds)[1]) for each in trainings}
    ratios = {kind: seconds[PLAIN] / seconds[kind] for kind in KINDS[1:]}
    shares = {kind: computed[kind] / seconds[kind] / (os.cpu_count() or 1) for kind in KINDS[1:]}
    work = [
        [[row.get(key) for key in SAME] for row in each.rows if first <= row["steps"] <= last]
        for each in trainings
    ]
    whole = {kind: float(each.sum()) for kind, each in seconds.items()}
    return {
        "steps": [first, last],
        "same_work": all(each == work[0] for each in work),
        "steps_per_second": {kind: (last - first) / took for kind, took in whole.items()},
        "whole_ratios": {kind: whole[PLAIN] / whole[kind] for kind in KINDS[1:]},
        "seconds": {kind: each.tolist() for kind, each in seconds.items()},
        **{
            name: {
                kind: {**median_interval(each), "each": each.tolist()} for kind, each in of.items()
            }
            for name, of in (("ratios", ratios), ("page_shares", shares))
        },
    }


def show(found: dict[str, Any]) -> None:
    """Prints the tables."""
    table = Table(title="a training and its page")
    for name in ("page", "steps/s", "of no page", "from", "to", "page's part"):
        table.add_column(name, justify="left" if name == "page" else "right")
    for kind in KINDS:
        told = [f"{found['steps_per_second'][kind]:,.0f}"]
        if kind in found["ratios"]:
            ratio, share = found["ratios"][kind], found["page_shares"][kind]["median"]
            shares = found["whole_ratios"][kind], ratio["low"], ratio["high"], share
            told += [f"{100 * each:.1f} %" for each in shares]
        table.add_row(kind, *told)
    Console().print(table)
    print("all three did the same work" if found["same_work"] else "their work was not the same")
    window = found["window"]
    print(
        f"a window that nobody looks through: {window['window_us']:.2f} us a step of "
        f"{window['step_us']:,.0f} us; a sight {window['sight_us']:,.0f} us"
    )


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.live", description=__doc__)
    parser.add_argument("--skill", default="pick", help="what is trained (pick)")
    parser.add_argument("--system", default="batched", help="that trains (batched)")
    parser.add_argument("--seconds", type=float, default=120.0, help="of each training (120)")
    parser.add_argument("--stretches", type=int, default=20, help="of the same steps (20)")
    parser.add_argument("--steps", type=int, default=2000, help="of one world (2000)")
    parser.add_argument("--seed", type=int, default=1, help="of the training (1)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "stretches", "steps")
    if options.skill not in skill_names():
        raise UserError(f"--skill: unknown '{options.skill}'")
    find_system(options.system)
    if not 1.0 <= options.seconds <= 3600.0:
        raise UserError("--seconds must be from 1 to 3600")
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
