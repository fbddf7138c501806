"""`python -m benchmarks.fault_drill`: injects every fault into a small real training.

Each line is one fault: whether the training survived it, and what was lost. A training survives if
it does all its steps (after one more start of the same command, where the fault ends the trainer),
counts what happened, says it in one line where it stops, and leaves no process and nothing in
/dev/shm. Where nothing depends on time (environments in lockstep, one thread), the curve and the
final weights must be those of a run that was never disturbed. Exit status 1 if one is not survived.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from safetensors.numpy import load_file

from benchmarks.drill_training import ENVIRONMENTS, ROLLOUTS, STEPS
from benchmarks.leftovers import MARK, abandoned, shared_memory, survivors
from rearrange.command_line import OneLineParser, output_file
from skills.command import run_command
from skills.jobs import torchrun
from skills.provenance import made, write_result
from ver.public import ROOT

TIMEOUT_S = 120
CHECKPOINT_WITHIN_S = 30.0
TORCHRUN = (*torchrun(2), "--max-restarts", "1")


class NotSurvivedError(Exception):
    """A fault was not survived; says why."""


@dataclass
class Result:
    """One line of the drill."""

    fault: str
    survived: bool
    lost: str
    seconds: float


class Drill:
    """Runs trainings in a scratch folder.

    Args:
        folder: Where they write.
        seed: Chooses the moments at which processes are killed.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.mark = f"{os.getpid()}-{time.time_ns()}"
        self.runs = 0
        self.reference = folder / "undisturbed"

    def start(self, run: str, launcher: Sequence[str] = (), **spec: Any) -> subprocess.Popen[str]:
        """Starts a training; see `drill_training` for what can be asked of it.

        Args:
            run: Its folder's name.
            launcher: The module that starts it, with arguments, if it is not to be started itself.
            spec: What is asked.
        """
        spec = {
            "run": str(self.folder / run),
            "markers": str(self.folder / f"{run}-markers"),
        } | spec
        Path(spec["markers"]).mkdir(exist_ok=True)
        modules = [*launcher, "-m", "benchmarks.drill_training"]
        command = [sys.executable, *modules, json.dumps(spec)]
        self.runs += 1
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {MARK: self.mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process: subprocess.Popen[str], status: int = 0) -> str:
        """Waits for a training to end with a status; returns what it said."""
        try:
            output, errors = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise NotSurvivedError(f"hung for {TIMEOUT_S} s") from None
        if process.returncode != status:
            last = (errors.strip() or output.strip() or "nothing said").splitlines()[-1]
            raise NotSurvivedError(f"exit status {process.returncode} instead of {status}: {last}")
        return output + errors

    def run(self, run: str, status: int = 0, **spec: Any) -> str:
        """Starts a training and waits for its end."""
        return self.finish(self.start(run, **spec), status)

    def rows(self, run: str | Path) -> list[dict[str, float]]:
        """The logged rows of a run."""
        path = self.folder / run / "metrics.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def checkpoints(self, run: str) -> list[Path]:
        """The whole training checkpoints of a run, oldest first."""
        return sorted((self.folder / run / "checkpoints").glob("training_*.safetensors"))

    def check_all_done(self, run: str, ranks: int = 1) -> dict[str, float]:
        """Returns the last row of a run that has done all its steps, each rollout once."""
        rows = self.rows(run)
        per_rollout = STEPS // ROLLOUTS * ranks
        expect(
            [row["steps"] for row in rows] == [per_rollout * (i + 1) for i in range(ROLLOUTS)],
            f"its rows end at steps {[int(row['steps']) for row in rows]}",
        )
        return rows[-1]

    def check_same_as_undisturbed(self, run: str) -> None:
        """Curve and weights are those of the undisturbed run."""
        self.check_all_done(run)
        clocks = ("time/", "seconds", "steps_per_second", "loss/samples_per_second")
        ours, theirs = (
            [{k: v for k, v in row.items() if not k.startswith(clocks)} for row in self.rows(name)]
            for name in (run, self.reference)
        )
        pairs = zip(ours, theirs, strict=True)
        other = sorted({key for row, whole in pairs for key in whole if row[key] != whole[key]})
        expect(not other, f"its curve is not that of the undisturbed run: {', '.join(other)}")
        files = [self.folder / run, self.reference]
        weights = [load_file(folder / "policy.safetensors") for folder in files]
        same = all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[1])
        expect(same, "its weights are not those of the undisturbed run")


def expect(condition: bool, otherwise: str) -> None:
    """Raises unless a condition holds."""
    if not condition:
        raise NotSurvivedError(otherwise)


def expect_one_line(said: str, *words: str) -> None:
    """The error is a line with certain words, and no traceback follows it."""
    lines = [line for line in said.strip().splitlines() if line.startswith("error: ")]
    expect(len(lines) == 1, f"not one line of error, but {len(lines)}")
    for word in words:
        expect(word in lines[0], f"its error does not say '{word}': {lines[0]}")


def environment_fault(kind: str, counted: str, *settings: str) -> Callable[[Drill], str]:
    """An environment fails once; the training goes on by itself."""

    def scenario(drill: Drill) -> str:
        environment = drill.rng.randrange(ENVIRONMENTS)
        step = drill.rng.randrange(20, 60)
        said = drill.run(kind, faults=[[kind, environment, step]], settings=settings)
        row = drill.check_all_done(kind)
        expect(row[f"faults/{counted}"] == 1, f"faults/{counted} is {row[f'faults/{counted}']:g}")
        expect(said.count("fault at step") == 1, "it was not said in one line")
        return f"{row['faults/steps_lost']:g} environment step(s)"

    return scenario


def environment_keeps_failing(drill: Drill) -> str:
    """More faults than allowed end the run; a mended environment goes on."""
    faults = [["raise", 1, step] for step in range(10, 20)]
    said = drill.run("failing", 2, faults=faults, settings=["collect.max_faults_per_hour=3"])
    expect_one_line(said, "environment 1", "the gears jammed", "max_faults_per_hour=3")
    expect(bool(drill.checkpoints("failing")), "it left no checkpoint")
    drill.run("failing")
    drill.check_all_done("failing")
    return "the rollout under way; one more start needed"


def inference_worker_dies(drill: Drill) -> str:
    """The run stops with a checkpoint and goes on when it is started again."""
    settings = ["collect.num_inference_workers=2"]
    said = drill.run("inference", 2, settings=settings, kill_inference_worker_after=2)
    expect_one_line(said, "inference worker 1 died", "-9")
    expect(len(drill.checkpoints("inference")) > 0, "it left no checkpoint")
    drill.run("inference", settings=settings)
    drill.check_all_done("inference")
    return "the rollout under way; one more start needed"


def signalled(number: signal.Signals) -> Callable[[Drill], str]:
    """The trainer is signalled at a random moment and started again."""

    def scenario(drill: Drill) -> str:
        run = number.name
        process = drill.start(run, lockstep=True)
        for _ in range(drill.rng.randrange(1, ROLLOUTS - 1)):
            assert process.stdout is not None
            process.stdout.readline()
        time.sleep(drill.rng.uniform(0.0, 0.1))
        begin = time.monotonic()
        process.send_signal(number)
        drill.finish(process, 0 if number == signal.SIGTERM else -number)
        took = time.monotonic() - begin
        expect(took < CHECKPOINT_WITHIN_S, f"it took {took:.0f} s to end")
        expect(bool(drill.checkpoints(run)), "it left no checkpoint")
        drill.run(run, lockstep=True)
        drill.check_same_as_undisturbed(run)
        return "nothing: same curve and weights; one more start needed"

    return scenario


def killed_while_saving(drill: Drill) -> str:
    """SIGKILL between the writing of a checkpoint and its renaming."""
    drill.run("saving", -signal.SIGKILL, lockstep=True, kill_in_save=3)
    expect(len(drill.checkpoints("saving")) > 0, "no whole checkpoint is left")
    drill.run("saving", lockstep=True)
    drill.check_same_as_undisturbed("saving")
    unfinished = list((drill.folder / "saving").rglob(".*.tmp"))
    expect(not unfinished, f"{len(unfinished)} unfinished files are left")
    return "nothing: same curve and weights; one more start needed"


def disk_full(drill: Drill) -> str:
    """Writing fails; the old checkpoint is intact, and the run goes on when there is room."""
    said = drill.run("disk", 2, lockstep=True, fill_disk_after=2)
    expect_one_line(said, "could not be written", "intact")
    expect(len(drill.checkpoints("disk")) == 2, "its old checkpoints are gone")
    drill.run("disk", lockstep=True)
    drill.check_same_as_undisturbed("disk")
    return "nothing: same curve and weights; one more start needed"


def corrupt_checkpoint(drill: Drill) -> str:
    """A flipped bit in the newest checkpoint: the one before is taken."""
    drill.run("corrupt", lockstep=True, stop_after=3)
    newest = drill.checkpoints("corrupt")[-1]
    content = bytearray(newest.read_bytes())
    content[drill.rng.randrange(len(content) // 2, len(content))] ^= 16
    newest.write_bytes(content)
    said = drill.run("corrupt", lockstep=True)
    lines = [line for line in said.splitlines() if "Falling back" in line]
    expect(len(lines) == 1 and newest.name in lines[0], "it does not say that it falls back")
    drill.check_same_as_undisturbed("corrupt")
    return "one rollout, which was collected again: same curve and weights"


def foreign_checkpoint(drill: Drill) -> str:
    """Settings that do not fit the checkpoint: refused in one line, nothing is touched."""
    drill.run("foreign", lockstep=True, stop_after=2)
    before = [path.read_bytes() for path in drill.checkpoints("foreign")]
    said = drill.run("foreign", 2, lockstep=True, settings=["network.hidden_size=12"])
    expect_one_line(said, "network.hidden_size was 8, and is 12 now")
    said = drill.run("foreign", 2, lockstep=True, skill="another")
    expect_one_line(said, "skill was trail, and is another now")
    expect(
        before == [path.read_bytes() for path in drill.checkpoints("foreign")],
        "the checkpoints were changed",
    )
    return "nothing"


def rank_killed(drill: Drill) -> str:
    """One of two ranks is killed; the other ends with a checkpoint, and torchrun starts both."""
    process = drill.start("ranks", TORCHRUN, settings=[f"total_steps={2 * STEPS}"])
    assert process.stdout is not None
    for _ in range(drill.rng.randrange(1, ROLLOUTS - 2)):
        process.stdout.readline()
    os.kill(_rank_process(process.pid, 1), signal.SIGKILL)
    said = drill.finish(process)
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    expect(len(lines) == 1, f"not one line of error, but {len(lines)}: {lines}")
    expect("Rank 0 lost the other processes" in lines[0], f"its error says: {lines[0]}")
    drill.check_all_done("ranks", ranks=2)
    return "the rollout under way, and the other rank's episodes"


def _rank_process(launcher: int, rank: int) -> int:
    """The process that torchrun has started as a rank."""
    for child in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        if f"RANK={rank}".encode() in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
            return int(child)
    raise NotSurvivedError(f"there is no rank {rank} to kill")


SCENARIOS: dict[str, Callable[[Drill], str]] = {
    "environment raises": environment_fault("raise", "raised"),
    "environment raises in reset": environment_fault("raise_in_reset", "raised"),
    "environment hangs": environment_fault("hang", "hung", "collect.step_timeout_s=1"),
    "environment worker killed": environment_fault("die", "died"),
    "reward is NaN": environment_fault("nan_reward", "not_finite"),
    "observation is NaN": environment_fault("nan_observation", "not_finite"),
    "environment keeps failing": environment_keeps_failing,
    "inference worker killed": inference_worker_dies,
    "trainer killed (SIGKILL)": signalled(signal.SIGKILL),
    "trainer killed while saving": killed_while_saving,
    "trainer asked to stop (SIGTERM)": signalled(signal.SIGTERM),
    "disk full": disk_full,
    "newest checkpoint corrupt": corrupt_checkpoint,
    "checkpoint of another run": foreign_checkpoint,
    "one of two ranks killed": rank_killed,
}


def drill_one(name: str, drill: Drill) -> Result:
    """Runs one scenario and looks for what it left behind."""
    begin = time.monotonic()
    before = shared_memory()
    try:
        lost = SCENARIOS[name](drill)
        left = survivors(drill.mark)
        expect(not left, f"processes left: {', '.join(map(str, left))}")
        segments = sorted(abandoned(shared_memory() - before))
        expect(not segments, f"left in /dev/shm: {', '.join(segments)}")
        survived = True
    except (NotSurvivedError, OSError, ValueError, KeyError) as error:
        lost, survived = re.sub(r"\s+", " ", f"{error}"), False
    return Result(name, survived, lost, time.monotonic() - begin)


def show(console: Console, results: Sequence[Result]) -> None:
    """Prints the table of a terminal."""
    table = Table(title="Faults injected into a small training")
    for column in ("fault", "survived", "lost", "seconds"):
        table.add_column(column, justify="right" if column == "seconds" else "left")
    for result in results:
        verdict = "[green]yes[/green]" if result.survived else "[red]no[/red]"
        table.add_row(result.fault, verdict, result.lost, f"{result.seconds:.0f}")
    console.print(table)


def main(arguments: Sequence[str]) -> int:
    """Runs the drill."""
    parser = OneLineParser(prog="benchmarks.fault_drill", description=__doc__)
    parser.add_argument("--only", metavar="WORD", help="only faults whose names hold this word")
    parser.add_argument("--seed", type=int, default=0, help="chooses the moments of the faults")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the results here")
    options = parser.parse_args(arguments)
    names = [name for name in SCENARIOS if not options.only or options.only in name]
    if not names:
        parser.error(f"no fault is called '{options.only}': {', '.join(SCENARIOS)}")
    origin = made("benchmarks.fault_drill", arguments, what="fault drill", seed=options.seed)
    console = Console()
    results = []
    with tempfile.TemporaryDirectory(prefix="fault-drill-") as folder:
        drill = Drill(Path(folder), options.seed)
        drill.run(drill.reference.name, lockstep=True)
        for name in names:
            result = drill_one(name, drill)
            results.append(result)
            if not console.is_terminal:
                verdict = "survived" if result.survived else "NOT SURVIVED"
                print(
                    f"{name}: {verdict}; lost: {result.lost} ({result.seconds:.0f} s)", flush=True
                )
            else:
                console.print(f"{name} ...", end="\r")
    if console.is_terminal:
        show(console, results)
    failed = [result for result in results if not result.survived]
    print(f"{len(results) - len(failed)} of {len(results)} faults survived")
    if options.json:
        record = {
            "made": origin,
            "seed": options.seed,
            "survived": len(results) - len(failed),
            "faults": [asdict(r) for r in results],
        }
        write_result(options.json, record)
    return 1 if failed else 0


if __name__ == "__main__":
    run_command(main)
