"""`python -m benchmarks.tensor_worlds --mjlab VENV/bin/python --brax VENV/bin/python`: other libraries' worlds.

One task of mjlab and one environment of Brax are trained as `python -m ver train NAME system=batched` does it,
on their CPU devices. Told are the mean return of the episodes at the begin and at the end of training, and that
of new episodes with the most likely actions. Each library's MuJoCo is not that of `rearrange`, so each is in a
virtual environment of its own (docs/any_environment.md has the commands).
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.own_session import from_anywhere
from rearrange.command_line import INTERRUPTED, OneLineParser, check_counts, output_file
from skills.command import run_command
from skills.provenance import made, write_result
from ver import UserError
from ver.logs import POLICY
from ver.public import ROOT

JUDGED_FROM = 100_000  # seed of the episodes that judge
RETURN = "episode/episode_return"
QUIET = ("tensorboard=false", "log_interval_s=1e9", "checkpoint_interval_s=1e9")
_VERSIONS = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


class Case(NamedTuple):
    """Worlds of one library.

    Attributes:
        name: As `ver train` knows them.
        steps: Length of a run.
        settings: What differs from the defaults.
        packages: Whose versions are told.
    """

    name: str
    steps: int
    settings: tuple[str, ...]
    packages: tuple[str, ...]


CASES = {
    "mjlab": Case(
        "mjlab:Mjlab-Cartpole-Balance",
        100_000,
        (),  # episodes are a thousand steps long: of few worlds the first ones end soon
        ("mjlab", "mujoco", "mujoco-warp", "warp-lang", "torch"),
    ),
    "brax": Case(
        "brax:inverted_pendulum",
        100_000,
        ("collect.num_environments=64", "collect.rollout_length=32", "env.backend=spring"),
        ("brax", "jax", "mujoco", "mujoco-mjx", "torch"),
    ),
}


def train_and_judge(python: str, case: Case, options: Any) -> dict[str, Any]:
    """Trains one run and judges it.

    Args:
        python: Interpreter of an environment that has the library.
        case: Worlds, and how long they are learned from.
        options: seed, steps, minutes and episodes of the command line.

    Raises:
        UserError: It failed, or time was up before something was learned.
    """
    with tempfile.TemporaryDirectory(prefix="tensor-worlds-") as place:
        folder, judged = Path(place) / "run", Path(place) / "judged.json"
        words = [
            *("system=batched", "device=cpu", f"run={folder}", f"seed={options.seed}"),
            *(f"total_steps={options.steps or case.steps}", *case.settings, *QUIET),
        ]
        _call([python, "-m", "ver", "train", case.name, *words], place, options.minutes)
        log = folder / "metrics.jsonl"
        rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        told = [row for row in rows if RETURN in row]
        if not told or not (folder / POLICY).exists():
            raise UserError(f"{case.name}: no episode ended; give it more --minutes or --steps")
        playing = ["--episodes", str(options.episodes), "--seed", str(JUDGED_FROM)]
        _call([python, "-m", "ver", "eval", str(folder), *playing, "--json", str(judged)], place)
        played = json.loads(judged.read_text())
    return {
        "name": case.name,
        "settings": list(case.settings),
        "steps": rows[-1]["steps"],
        "begin": told[0][RETURN],
        "begin_steps": told[0]["steps"],
        "end": told[-1][RETURN],
        "judged": played["mean"],
        "judged_worst": min(played["return"]),
        "versions": _versions(python, case.packages),
    }


def _call(command: Sequence[str], place: str, minutes: float | None = None) -> None:
    """Runs a command from the root of the repository; when time is up, asks it to end as Ctrl-C does.

    Raises:
        UserError: It failed; the last line that it said.
    """
    log = Path(place) / "log.txt"
    with (
        log.open("w") as file,
        subprocess.Popen(from_anywhere(command), cwd=ROOT, stdout=file, stderr=file) as process,
    ):
        try:
            code = process.wait(minutes and minutes * 60)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            code = process.wait()
        except BaseException:
            process.kill()
            raise
    if code not in (0, INTERRUPTED):
        last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        raise UserError(f"{' '.join(command[2:5])} ended with {code}; it said last: {last[0]}")


def _versions(python: str, packages: Sequence[str]) -> dict[str, str]:
    """Versions of what an interpreter has, by package."""
    asked = [python, "-c", _VERSIONS, *packages]
    return json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)


def show(worlds: dict[str, dict[str, Any]]) -> None:
    """Prints the table."""
    table = Table(title="worlds of other libraries: mean return")
    for name in ("worlds", "steps", "begin", "end", "judged", "worst"):
        table.add_column(name, justify="left" if name == "worlds" else "right")
    for each in worlds.values():
        figures = (each[name] for name in ("begin", "end", "judged", "judged_worst"))
        table.add_row(each["name"], f"{each['steps']:,}", *(f"{x:.4g}" for x in figures))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.tensor_worlds", description=__doc__)
    for library in CASES:
        about = f"interpreter of an environment that has {library}"
        parser.add_argument(f"--{library}", metavar="PYTHON", help=about)
    parser.add_argument("--seed", type=int, default=1, help="of the runs (1)")
    parser.add_argument("--steps", type=int, help="of each run, instead of their own")
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="that each run may take at most (10)"
    )
    parser.add_argument("--episodes", type=int, default=64, help="that judge a run (64)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "steps", "episodes")
    if not 0 < options.minutes < 10_000:
        raise UserError(f"--minutes must be above 0 and below 10000, found {options.minutes:g}")
    options.pythons = {each: getattr(options, each) for each in CASES if getattr(options, each)}
    if not options.pythons:
        raise UserError(f"say at least one of {', '.join(f'--{each} PYTHON' for each in CASES)}")
    for library, python in options.pythons.items():
        if shutil.which(python) is None:
            raise UserError(f"--{library}: there is no {python}")
    return options


def main(arguments: Sequence[str]) -> int:
    """Train, judge, tell."""
    options = parse(arguments)
    what = "worlds of mjlab and Brax, learned from on their CPU devices"
    origin = made("benchmarks.tensor_worlds", arguments, what=what, seed=options.seed)
    with ThreadPoolExecutor(len(options.pythons)) as pool:  # no time is told: they may run at once
        begun = {
            library: pool.submit(train_and_judge, python, CASES[library], options)
            for library, python in options.pythons.items()
        }
    worlds = {library: run.result() for library, run in begun.items()}
    show(worlds)
    if options.json:
        record = {"made": origin, "device": "cpu", "judging_episodes": options.episodes}
        write_result(options.json, record | {"worlds": worlds})
    return 0


if __name__ == "__main__":
    run_command(main)
