"""Validation while a training runs: every so many steps its policy is judged in apartments it does not see.

`validate_every=250000` turns it on. A process of its own plays the episodes, always the same ones, by mean
actions, while the training goes on. `validation.jsonl` in the run directory has a row for each; the policy
that did best is `best.safetensors`. A tracker (`trainer.tracker`) also gets a film of each.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ver.errors
from rearrange.errors import UserError
from skills.habitat_lab import PREFIX
from ver.checkpoint import copy_policy, write_atomically
from ver.collect.processes import enter_worker
from ver.logs import BEST, FILM, log_film

LOG = "validation.jsonl"
SEED = 5  # of the episodes
LARGEST = {"validate_every": 10**9, "validation_episodes": 10_000}  # their least is 0 and 1
OURS = ("mujoco", "grid")  # simulators in whose homes policies are judged
NICENESS = 5  # the training comes first
FILMED = 300  # steps of an episode at most


def check_validation(settings: Any) -> None:
    """Raise a UserError for settings out of their range, and for what is not judged by our evaluation."""
    for least, (name, most) in enumerate(LARGEST.items()):
        found = getattr(settings, name)
        if not least <= found <= most:
            raise UserError(f"{name} must be from {least} to {most}, found {found}")
    if settings.validate_every and settings.skill.startswith(PREFIX):
        raise UserError(f"validate_every: {settings.skill} is judged by habitat-lab: leave it out")
    if settings.validate_every and settings.sim not in OURS:
        raise UserError(f"validate_every: sim={settings.sim} is judged by hand: leave it out")


class Validation:
    """Judges the policies of one training, or of one stage.

    Args:
        settings: Of the training.
        run: Its directory, or that of the stage.
        say: Tells the person.
        steps: With which the training goes on: what was judged up to there is not judged again.
    """

    def __init__(
        self, settings: Any, run: Path, say: Callable[[str], None], steps: int = 0
    ) -> None:
        """Judge nothing yet."""
        self._settings, self._run, self._say = settings, run, say
        self._process: Any = None
        # Of the policy that is judged now, or was last
        before = read_validation(run) if settings.validate_every else []
        self._steps = max((row["steps"] for row in before if row["steps"] <= steps), default=0)
        self._candidate, self._result = run / "validated.safetensors", run / "validated_result.json"
        self._film = run / "validated.mp4"

    def __call__(self, trainer: Any, row: dict[str, float]) -> None:
        """Look whether the last policy is judged, and whether the next one is due; after an update."""
        del row
        self._take(wait=False)
        due = trainer.steps // self._settings.validate_every
        if self._process is None and due > self._steps // self._settings.validate_every:
            self._begin(trainer)

    def finish(self, trainer: Any) -> None:
        """Judge the last policy of a training that is done."""
        self._take(wait=True)
        if self._steps < trainer.steps:
            self._begin(trainer)
            self._take(wait=True)
        if (film := self._run / FILM).is_file():
            try:
                log_film(film, self._run, trainer.config, trainer.steps)
            except ver.errors.UserError as error:  # all else is done
                self._say(str(error))
            film.unlink()

    def close(self) -> None:
        """End what is under way."""
        if self._process is not None:
            self._process.kill()  # it leaves signals to the training
            self._process.join()
            self._process = None
        candidate = (self._candidate, self._candidate.with_suffix(".json"))
        for path in (*candidate, self._result, self._film):
            path.unlink(missing_ok=True)

    def _begin(self, trainer: Any) -> None:
        """Judge the policy as it is."""
        self._steps = trainer.steps
        self._result.unlink(missing_ok=True)
        trainer.export(self._candidate)
        film = "" if trainer.config.tracker == "none" else str(self._film)
        command = _command(self._settings, self._candidate)
        # spawn: forking a process that has run threads can hang the child
        self._process = multiprocessing.get_context("spawn").Process(
            target=_judge, args=(os.getpid(), command, str(self._result), film), daemon=True
        )
        self._process.start()

    def _take(self, wait: bool) -> None:
        """Write down what came of the policy that was judged, once that is known."""
        if self._process is None or not (wait or self._process.exitcode is not None):
            return
        self._process.join()
        self._process = None
        if not self._result.is_file():
            self._say(f"the validation at step {self._steps:,} failed; the training goes on")
            return
        if self._film.is_file():
            os.replace(self._film, self._run / FILM)  # for the tracker
        row = {"steps": self._steps, **json.loads(self._result.read_text())}
        # What came after the checkpoint of a run that was resumed does not count
        rows = [old for old in read_validation(self._run) if old["steps"] < self._steps]
        best = max((old["success"]["mean"] for old in rows), default=-1.0)
        success, note = row["success"], ""
        if success["mean"] > best:
            note = f", the best so far: {self._run / BEST}"
            copy_policy(self._candidate, self._run / BEST)
        lines = "".join(json.dumps(each) + "\n" for each in [*rows, row])
        write_atomically(self._run / LOG, lines.encode())
        told = ", ".join(f"{100 * success[key]:.1f}" for key in ("low", "high"))
        self._say(
            f"validation at step {self._steps:,}: {100 * success['mean']:.1f} % [{told}]{note}"
        )


def read_validation(run: Path) -> list[dict[str, Any]]:
    """Rows of a run's validations: steps, episodes, and success with its interval."""
    return read_log(run / LOG) if (run / LOG).is_file() else []


def read_log(path: Path) -> list[dict[str, Any]]:
    """Rows of a log; a run that was resumed overwrites what came after its checkpoint.

    A last line that is cut off is left out: it is just being written, or who wrote it was killed.

    Raises:
        UserError: A line is no row.
    """
    rows: dict[float, dict[str, Any]] = {}
    for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
        try:
            row = json.loads(line)
            _ = row["steps"]
        except (ValueError, TypeError, KeyError):
            if not line.endswith("\n"):
                break
            raise UserError(f"{path}:{number}: expected a row with its steps") from None
        rows = {steps: old for steps, old in rows.items() if steps < row["steps"]}
        rows[row["steps"]] = row
    return list(rows.values())


def _command(settings: Any, policy: Path) -> list[str]:
    """Arguments of `skills.eval` for a policy."""
    command = [
        settings.skill,
        "--homes",
        settings.homes,
        "--checkpoint",
        str(policy),
        "--split",
        "val",
    ]
    command += ["--episodes", str(settings.validation_episodes), "--seed", str(SEED)]
    return [*command, "--dataset", "sampled", "--actions", "mean", "--workers", "1"]


def _judge(parent: int, command: list[str], result: str, film: str) -> None:
    """Evaluate in this process, write success with its interval, and film an episode if asked."""
    enter_worker(parent)
    os.nice(NICENESS)
    from skills.eval import EpisodePlayer
    from skills.eval_options import checkpoint_of, find_file, parse
    from skills.summary import summarise
    from skills.workers import play_in_workers

    options = parse(command)
    options.file, _ = find_file(options)
    checkpoint = checkpoint_of(options)
    make = partial(EpisodePlayer, str(checkpoint), options)
    cases = [(index,) for index in range(options.episodes)]
    summary = summarise(list(play_in_workers(make, cases, 1)))
    # Explore and Flee know no success
    success = summary.get("success_at_end") or summary["scores"]["score_share"]
    told = {"episodes": options.episodes, "success": success}
    write_atomically(Path(result), json.dumps(told).encode())
    if film:
        film_policy(checkpoint, Path(film), options.homes or "")


def film_policy(checkpoint: Path, path: Path, homes: str = "") -> None:
    """Film the beginning of an episode that a policy plays by mean actions in a validation home."""
    from rearrange.render import VideoWriter  # compiles
    from skills.learned import PolicyRunner

    runner = PolicyRunner(checkpoint, deterministic=True)
    env = runner.make_env("val", SEED, homes)
    env.render_mode, ended = "rgb_array", False
    observation, _ = env.reset(seed=SEED)
    with VideoWriter(path, env.metadata["render_fps"]) as writer:
        while not ended and writer.frame_count < FILMED:
            writer.write(env.render())
            observation, _, terminated, truncated, _ = env.step(runner.act(observation))
            ended = terminated or truncated
    env.close()
