"""Evaluation of a skill, a household scenario or a navigation task, see `skills.eval_options`.

Every episode has its own seed, for its start and for the sampled actions, so the figures do not depend
on the number of worker processes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from nav.episode_files import HABITAT, SCAN, source_of
from rearrange.caching import first_start
from rearrange.command_line import output_console
from rearrange.episodes import EpisodeSet, shown
from rearrange.rules import OURS
from rearrange.scenes.registry import DEFAULT_HOMES
from skills.command import counted, run_command, short_path
from skills.eval_options import (
    LEARNED,
    ORACLE,
    UNTRAINED,
    checkpoint_of,
    find_file,
    parse,
    robot_of,
    sanity_options,
)
from skills.nav_players import BaselinePlayer, FollowerPlayer
from skills.navigation import episode_of_file, navigation_names
from skills.places import told_places
from skills.players import OraclePlayer, PolicyPlayer, RandomPlayer
from skills.provenance import made, write_result
from skills.summary import HOME, SCORES, SUCCESSES, per_episode, sanity_row, summarise
from skills.workers import play_in_workers
from ver import load_policy, read_metadata

SEED_STRIDE = 1_000_003  # episode k of seed s starts from s * SEED_STRIDE + k
UNITS = {"length": " [steps]", "path_length": " [m]", "distance_to_goal": " [m]"}

Player = PolicyPlayer | OraclePlayer | RandomPlayer | FollowerPlayer | BaselinePlayer


class EpisodePlayer:
    """Plays the episodes of an evaluation, in whatever order, in one process.

    Args:
        checkpoint: The policy, where one plays.
        options: The command line's, and the file of episodes.

    Attributes:
        player: Who acts.
    """

    def __init__(self, checkpoint: str, options: Any) -> None:
        """Load player and environment."""
        self.options = options
        self.player = make_player(checkpoint, options)

    def play(self, index: int) -> dict[str, Any]:
        """Play one episode; returns its metrics, and where it took place."""
        seed = self.options.seed * SEED_STRIDE + index
        metrics = self.player.play(seed, asked(self.options, index))
        episode = self.player.environment.episode
        home = {name: getattr(episode, name) for name in HOME if hasattr(episode, name)}
        return {"episode": index, **home, **metrics}


def asked(options: Any, index: int) -> dict[str, Any] | None:
    """Options of `reset`: the episode of the file, None where episodes are sampled."""
    if options.file is None:
        return None
    if options.skill in navigation_names():
        place = options.file, index, options.seed, options.scenes
        return {"episode": episode_of_file(options.skill, *place)}
    return {"episode": EpisodeSet.load(options.file).episode(index, options.seed)}


def make_player(checkpoint: str, options: Any) -> Player:
    """Make the player that a command line asks for."""
    skill, split = options.skill, options.split
    if options.policy == LEARNED:
        return PolicyPlayer(
            checkpoint,
            options.actions == "mean",
            split,
            options.images,
            options.changes,
            place_of(options),
            options.agent,
        )
    if skill not in navigation_names():
        kind = OraclePlayer if options.policy == ORACLE else RandomPlayer
        place = options.homes, options.robot
        return kind(skill, split, options.rules, options.changes, *place)
    if options.policy == ORACLE:
        elsewhere = options.sim, skill, str(options.file or ""), options.scenes
        files = source_of(*elsewhere) if options.scenes else None
        return FollowerPlayer(skill, split, options.homes or DEFAULT_HOMES, files)
    return BaselinePlayer(skill, split, options.homes or DEFAULT_HOMES, options.policy)


def place_of(options: Any) -> dict[str, str]:
    """Return the changes to a policy's environments: homes, simulator, or scenes of files."""
    if options.scenes:
        file = str(options.file or "")
        return {"dataset": file, "scenes": options.scenes, "sim": options.sim}
    if options.lab_dataset:
        return {"sim": HABITAT, "dataset": options.lab_dataset}
    homes = {"homes": options.homes} if options.homes else {}
    return homes | ({"sim": HABITAT} if options.sim == HABITAT else {})


def evaluate(checkpoint: str, options: Any) -> Iterator[dict[str, Any]]:
    """Metrics of every episode, in the order in which they end."""
    cases = [(index,) for index in range(options.episodes)]
    yield from play_in_workers(partial(EpisodePlayer, checkpoint, options), cases, options.workers)


def untrained_copy(checkpoint: Path, seed: int, folder: str) -> Path:
    """A checkpoint like this one with freshly initialised weights."""
    from ver import ActorCritic, save_policy

    trained = load_policy(checkpoint)
    torch.manual_seed(seed)
    fresh = ActorCritic(trained.observation_space, trained.action_space, trained.network_config)
    path = Path(folder) / "untrained.safetensors"
    save_policy(path, fresh, trained.config, trained.metadata)
    return path


def _interval(value: dict[str, float]) -> str:
    return f"{100 * value['mean']:.1f} % ({100 * value['low']:.1f} to {100 * value['high']:.1f})"


def show(record: dict[str, Any]) -> None:
    """Print the record as a table."""
    who = f"{record['actions']} actions" if record["policy"] == LEARNED else record["policy"]
    played = counted(record["episodes"], f"{record['split']} episode".strip())
    policy = f"; policy: {short_path(record['checkpoint'])}" if record["policy"] == LEARNED else ""
    table = Table(
        title=f"{record['skill']} ({who}) on {played}",
        caption=escape(f"brackets: 95 % intervals{policy}"),
        caption_justify="left",
    )
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, called in (("plans", "floor plans"), ("apartments", "apartments")):
        if name in record:
            table.add_row(called, str(record[name]))
    for key in (key for key in SUCCESSES.values() if key in record):
        table.add_row(key.replace("_", " "), _interval(record[key]))
    for key, score in record["scores"].items():
        table.add_row(
            f"mean {key}", f"{score['mean']:.3f} ({score['low']:.3f} to {score['high']:.3f})"
        )
    for kind, part in record["starts"].items():
        name = f"success at end, {counted(part['episodes'], f'{kind} start')}"
        table.add_row(name, _interval(part["success_at_end"]))
    for receptacle, part in record["receptacles"].items():
        name = f"success at end, {part['episodes']} at {receptacle.replace('_', ' ')}"
        table.add_row(name, _interval(part["success_at_end"]))
    for cause, number in record["failures"].items():
        table.add_row(f"failed: {cause}", str(number))
    for name, value in record["means"].items():
        unit = " per episode" if name == "return" or name.startswith("reward/") else ""
        table.add_row(escape(f"mean {name}{UNITS.get(name, unit)}"), f"{value:.3f}")
    table.add_row("steps/s", f"{record['steps_per_second']:.0f}")
    output_console().print(table)


def show_rows(record: dict[str, Any]) -> None:
    """Print the policy and its sanity rows as one table."""
    rows = record["rows"]
    names = [n for n in (*SUCCESSES.values(), *SCORES) if n in rows["policy"]]
    played = counted(rows["policy"]["episodes"], "episode")
    places = told_places(rows["policy"]).removeprefix(", ")
    said = [f"no {name}: {why}" for name, why in record["left_out"].items()]
    table = Table(
        title=f"{record['skill']}: sanity rows, the same {played} each",
        caption=escape("\n".join(["brackets: 95 % intervals", places, *said])),
        caption_justify="left",
    )
    for name in ("who", *names):
        table.add_column(name.replace("_", " "), justify="left" if name == "who" else "right")
    for who, row in rows.items():
        table.add_row(who, *(_interval(row[name]) for name in names))
    output_console().print(table)


def _play_all(
    checkpoint: Path, options: Any, progress: Progress, name: str
) -> list[dict[str, Any]]:
    """All episodes, with a line of progress."""
    results: list[dict[str, Any]] = []
    task = progress.add_task(name, total=options.episodes)
    for result in evaluate(str(checkpoint), options):
        results.append(result)
        key = "success" if "success" in result else "score"
        mean = sum(r[key] for r in results) / len(results)
        told = f"{name} {key} {mean:.2f}".strip()
        progress.update(task, advance=1, description=told)
        if not progress.console.is_terminal and 10 * len(results) % options.episodes < 10:
            print(f"{len(results)} of {options.episodes} episodes, {told}", flush=True)
    return results


def _sanity(
    path: Path, options: Any, progress: Progress, results: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The sanity rows, the policy's own on the same episodes first."""
    variants, left_out = sanity_options(options)
    count = min(options.episodes, options.sanity_episodes)
    rows = {"policy": sanity_row([result for result in results if result["episode"] < count])}
    for name, variant in variants.items():
        played = _play_all(path, variant, progress, name)
        # Where they take place stands in the record's own rows: they are the same episodes.
        rows[name] = sanity_row(played) | {"per_episode": per_episode(played, home=())}
    return {"rows": rows, "left_out": left_out}


def _scans(options: Any) -> Path | None:
    """The scanned scenes in which episodes are sampled; None elsewhere."""
    return Path(options.scenes) if options.sim == SCAN else None


def _is_elsewhere(options: Any) -> bool:
    """Return whether the episodes are of no split of our homes."""
    return bool(options.lab_dataset) or options.sim == SCAN


def main(arguments: Sequence[str]) -> int:
    """Evaluate and report."""
    options = parse(arguments)
    untrained = options.checkpoint == UNTRAINED
    learned = options.policy == LEARNED
    path = checkpoint_of(options) if learned else Path(options.policy)
    if learned:  # its sanity rows are of the same world
        options.rules = read_metadata(path).get("rules", OURS)
    options.robot = robot_of(options)
    origin = made(
        "skills.eval", arguments, what=f"{options.skill}: {options.policy}", seed=options.seed,
        split="" if _is_elsewhere(options) else options.split, homes=options.homes,
        release=options.release,
        checkpoints=[path] * (learned and not untrained),
    )  # fmt: skip
    options.file, line = find_file(options)
    print(f"{line}{first_start()}", flush=True)
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        tempfile.TemporaryDirectory() as folder,
        Progress(*(TextColumn(c) if isinstance(c, str) else c for c in columns)) as progress,
    ):
        if untrained:
            path = untrained_copy(path, options.seed, folder)
        started = time.perf_counter()
        results = _play_all(path, options, progress, "")
        seconds = time.perf_counter() - started
        sanity = _sanity(path, options, progress, results) if options.sanity else {}
    record = {
        "made": origin,
        "skill": options.skill,
        "split": "" if _is_elsewhere(options) else options.split,
        "homes": options.homes,
        "episodes": options.episodes,
        "seed": options.seed,
        "dataset": options.lab_dataset or shown(options.file or _scans(options)),
        "policy": options.policy,
        "checkpoint": UNTRAINED if untrained else str(path),
        "actions": options.actions,
        "images": options.images,
        "sim": options.sim,
        "rules": options.rules,
        "robot": options.robot,
        "task": options.changes,
        **({"agent": options.agent} if options.agent else {}),
        **summarise(results),
        "steps_per_second": sum(r["length"] for r in results) / seconds,
        **sanity,
        "per_episode": per_episode(results),
    }
    if options.json:  # first: whoever reads the tables may close them
        write_result(options.json, record)
    show(record)
    if sanity:
        show_rows(record)
    return 0


if __name__ == "__main__":
    run_command(main)
