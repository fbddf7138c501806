"""`python -m skills.eval SKILL`: success of a policy on episodes it has never seen, or of an oracle.

SKILL is a skill, a household scenario or a navigation task. `task.KEY=VALUE` after it judges a policy by
other numbers of the task, e.g. Navigate by a region as its goal:
`navigate task.geodesic=true task.goal_way=0.5`.

Every episode has its own seed, for its start and for the sampled actions, so the figures do not depend
on the number of worker processes.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from nav.episode_files import SCENES, SceneEpisodes
from rearrange.episodes import EpisodeSet, find_dataset, shown
from rearrange.episodes.dataset import SAMPLED
from rearrange.episodes.generation import check_split
from rearrange.rules import OURS
from rearrange.sim.habitat_dataset import DOWNLOAD, is_rearrange_dataset
from rearrange.sim.habitat_process import check_installed
from rearrange.tasks import HOUSEHOLD_NAMES
from skills.command import OneLineParser, counted, machine, run_command, short_path, write_json
from skills.learned import check_metadata
from skills.navigation import HABITAT, NAVIGATION_NAMES, episode_of_file, find_episode_file
from skills.players import BaselinePlayer, FollowerPlayer, OraclePlayer, PolicyPlayer
from skills.settings import CHECKPOINTS, check_dataset, check_skill, settings_type
from skills.statistics import mean_score, wilson
from skills.train import load_settings
from skills.workers import play_in_workers
from ver import UserError, load_policy, merge_config

SEED_STRIDE = 1_000_003  # episode k of seed s starts from s * SEED_STRIDE + k
UNTRAINED = "untrained"
ORACLE = "oracle"
LEARNED = "learned"
BASELINES = ("random", "frontier")  # of navigation tasks
SCORES = ("spl", "soft_spl", "score_share")  # in [0, 1], of navigation tasks
UNITS = {"length": " [steps]", "path_length": " [m]", "distance_to_goal": " [m]"}
SUCCESSES = {"success": "success_at_end", "success_once": "success_once"}  # not all tasks have them


class EpisodePlayer:
    """Plays the episodes of an evaluation, in whatever order, in one process.

    Args:
        checkpoint: The policy, where one plays.
        options: The command line's, and the file of episodes.
    """

    def __init__(self, checkpoint: str, options: Any) -> None:
        """Load player and environment."""
        self.options = options
        self._player = _make_player(checkpoint, options)

    def play(self, index: int) -> dict[str, float]:
        """Play one episode; returns its metrics."""
        seed = self.options.seed * SEED_STRIDE + index
        return {"episode": index, **self._player.play(seed, asked(self.options, index))}


def asked(options: Any, index: int) -> dict[str, Any] | None:
    """Options of `reset`: the episode of the file, None where episodes are sampled."""
    if options.file is None:
        return None
    if options.skill in NAVIGATION_NAMES:
        place = options.file, index, options.seed, options.scenes
        return {"episode": episode_of_file(options.skill, *place)}
    return {"episode": EpisodeSet.load(options.file).episode(index, options.seed)}


def _make_player(
    checkpoint: str, options: Any
) -> PolicyPlayer | OraclePlayer | FollowerPlayer | BaselinePlayer:
    skill, split = options.skill, options.split
    if options.policy == LEARNED:
        return PolicyPlayer(
            checkpoint,
            options.actions == "mean",
            split,
            options.images == "swapped",
            options.changes,
            place_of(options),
        )
    if skill not in NAVIGATION_NAMES:
        return OraclePlayer(skill, split)
    buildings = load_settings(skill).buildings
    if options.policy == ORACLE:
        files = SceneEpisodes(skill, str(options.file), options.scenes) if options.scenes else None
        return FollowerPlayer(skill, split, buildings, files)
    return BaselinePlayer(skill, split, buildings, options.policy)


def place_of(options: Any) -> dict[str, str]:
    """What of a policy's environments shall be otherwise: simulator, or dataset and scenes of Habitat."""
    if options.scenes:
        return {"dataset": str(options.file), "scenes": options.scenes}
    if options.lab_dataset:
        return {"sim": HABITAT, "dataset": options.lab_dataset}
    return {"sim": HABITAT} if options.sim == HABITAT else {}


def evaluate(checkpoint: str, options: Any) -> Iterator[dict[str, float]]:
    """Metrics of every episode, in the order in which they end."""
    cases = [(index,) for index in range(options.episodes)]
    yield from play_in_workers(partial(EpisodePlayer, checkpoint, options), cases, options.workers)


def summarise(results: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Success with intervals, causes of failure and means of the episodes."""
    results = sorted(results, key=lambda result: result["episode"])
    count = len(results)
    causes = Counter(
        key.removeprefix("failure/")
        for result in results
        for key, value in result.items()
        if key.startswith("failure/") and value and not result["success"]
    )
    means = {
        key: sum(result[key] for result in results) / count
        for key in results[0]
        if key not in (*SUCCESSES, *SCORES, "episode", "detour") and not key.startswith("failure/")
    }
    successes = {
        name: wilson(sum(result[key] > 0 for result in results), count).as_json()
        for key, name in SUCCESSES.items()
        if key in results[0]
    }
    return {
        **successes,
        "scores": {
            key: mean_score(result[key] for result in results).as_json()
            for key in SCORES
            if key in results[0]
        },
        "starts": _by_start(results),
        "failures": dict(causes.most_common()),
        "means": means,
    }


def _by_start(results: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Success at the end where the way is straight and where a detour is needed; kinds that occurred."""
    kinds = {}
    for name, detour in (("straight", 0.0), ("detour", 1.0)):
        ends = [result["success"] > 0 for result in results if result.get("detour") == detour]
        if ends:
            kinds[name] = {
                "episodes": len(ends),
                "success_at_end": wilson(sum(ends), len(ends)).as_json(),
            }
    return kinds


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
        caption=f"brackets: 95 % intervals{policy}",
        caption_justify="left",
    )
    table.add_column("figure")
    table.add_column("value", justify="right")
    for key in (key for key in SUCCESSES.values() if key in record):
        table.add_row(key.replace("_", " "), _interval(record[key]))
    for key, score in record["scores"].items():
        table.add_row(
            f"mean {key}", f"{score['mean']:.3f} ({score['low']:.3f} to {score['high']:.3f})"
        )
    for kind, part in record["starts"].items():
        name = f"success at end, {counted(part['episodes'], f'{kind} start')}"
        table.add_row(name, _interval(part["success_at_end"]))
    for cause, number in record["failures"].items():
        table.add_row(f"failed: {cause}", str(number))
    for name, value in record["means"].items():
        unit = " per episode" if name == "return" or name.startswith("reward/") else ""
        table.add_row(escape(f"mean {name}{UNITS.get(name, unit)}"), f"{value:.3f}")
    table.add_row("steps/s", f"{record['steps_per_second']:.0f}")
    Console().print(table)


def task_changes(skill: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Settings of a skill's task that overrides name, and their values.

    Raises:
        UserError: One is not of the task, or unknown, or makes no sense.
    """
    for override in overrides:
        if not override.startswith("task."):
            raise UserError(
                f"'{override}': an evaluation changes numbers of the task, as task.KEY=VALUE"
            )
    if not overrides:
        return {}
    task = asdict(merge_config(settings_type(skill)(), [], overrides).task)
    return {name: task[name] for name in (re.split(r"[.=]", key)[1] for key in overrides)}


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line."""
    parser = OneLineParser(prog="skills.eval", description=__doc__)
    parser.add_argument("skill", help="what to evaluate")
    parser.add_argument(
        "overrides", nargs="*", metavar="task.KEY=VALUE", help="judge by other numbers of the task"
    )
    parser.add_argument(
        "--policy", choices=(LEARNED, ORACLE, *BASELINES), default=LEARNED, help="who plays"
    )
    parser.add_argument(
        "--checkpoint", default="", help=f"policy file; '{UNTRAINED}': random weights"
    )
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--split", default="val", help="train, val or test apartments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--dataset",
        help="episode file, ours or habitat-lab's, or 'sampled'; default: data/episodes/ where it holds "
        "enough",
    )
    parser.add_argument(
        "--sim",
        choices=("own", HABITAT),
        default="own",
        help="habitat: on habitat-sim; navigation tasks then in the scenes of --dataset's episodes",
    )
    parser.add_argument("--scenes", default=SCENES, help="folder of Habitat's scenes")
    parser.add_argument("--actions", choices=("sampled", "mean"), default="sampled")
    parser.add_argument(
        "--images",
        choices=("own", "swapped"),
        default="own",
        help="swapped: the policy sees another world's camera; does it look at all?",
    )
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", default="", help="also write the figures to this file")
    options = parser.parse_intermixed_args(arguments)
    check_skill(options.skill)
    options.changes = task_changes(options.skill, options.overrides)
    if options.policy != LEARNED and options.changes:
        raise UserError(f"--policy {options.policy} takes no {options.overrides[0]}: leave it out")
    if options.policy != LEARNED and options.checkpoint:
        raise UserError(f"--policy {options.policy} takes no --checkpoint: leave one of them out")
    if options.policy != LEARNED and options.images != "own":
        raise UserError(f"--policy {options.policy} takes no --images: leave one of them out")
    if options.policy == ORACLE and options.skill in HOUSEHOLD_NAMES:
        raise UserError(
            f"{options.skill} has no oracle of its own: python -m planner.eval {options.skill} "
            "--skills oracle follows a plan with those of the skills"
        )
    if options.sim == HABITAT:
        if options.policy in BASELINES or (
            options.policy == ORACLE and options.skill not in NAVIGATION_NAMES
        ):
            raise UserError(
                f"--sim habitat: --policy {options.policy} plays elsewhere: leave one out"
            )
        check_installed()
    if options.sim != HABITAT or options.skill not in NAVIGATION_NAMES:
        options.scenes = ""
    options.lab_dataset = ""
    if options.skill not in NAVIGATION_NAMES and options.dataset not in (None, SAMPLED):
        if options.sim == HABITAT and not Path(options.dataset).is_file():
            raise UserError(f"there is no {options.dataset}: if it is of habitat-lab, {DOWNLOAD}")
        if is_rearrange_dataset(options.dataset):
            if options.sim != HABITAT:
                raise UserError(f"{options.dataset} is of habitat-lab: say --sim habitat, too")
            options.lab_dataset = options.dataset
    if options.policy in BASELINES and options.skill not in NAVIGATION_NAMES:
        raise UserError(f"--policy {options.policy} is for navigation tasks, not {options.skill}")
    check_split(options.split)
    if options.episodes < 1 or options.workers < 1 or options.seed < 0:
        raise UserError("--episodes and --workers must be at least 1, --seed at least 0")
    return options


def checkpoint_of(options: Any) -> Path:
    """The checkpoint that is asked for, the shipped one by default; it must be of the skill.

    Raises:
        UserError: It holds no policy, or one for another skill; or there is none.
    """
    given = options.checkpoint not in ("", UNTRAINED)
    path = Path(options.checkpoint) if given else CHECKPOINTS / f"{options.skill}.safetensors"
    if not given and not path.is_file():
        script = "train_nav.sh" if options.skill in NAVIGATION_NAMES else "train_skill.sh"
        raise UserError(
            f"no policy of {options.skill} is shipped: train one (scripts/{script} {options.skill}) and "
            "give it as --checkpoint"
        )
    check_metadata(path, load_policy(path).metadata, options.skill)
    return path


def find_file(options: Any) -> tuple[Path | None, str]:
    """The file of episodes, None where they are sampled, and a line that says which."""
    if options.skill in NAVIGATION_NAMES:
        given = options.dataset, options.skill, options.episodes, options.split, options.scenes
        return find_episode_file(*given)
    if options.lab_dataset:
        check_dataset(options.lab_dataset, HABITAT, options.skill)
        return None, f"episodes: drawn from {options.lab_dataset}"
    episodes, line = find_dataset(options.dataset, options.skill, options.split, options.episodes)
    return None if episodes is None else episodes.path, line


def main(arguments: Sequence[str]) -> int:
    """Evaluate and report."""
    options = parse(arguments)
    untrained = options.checkpoint == UNTRAINED
    learned = options.policy == LEARNED
    path = checkpoint_of(options) if learned else Path(options.policy)
    options.file, line = find_file(options)
    print(line, flush=True)
    results: list[dict[str, float]] = []
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        Progress(*(TextColumn(c) if isinstance(c, str) else c for c in columns)) as progress,
    ):
        if untrained:
            path = untrained_copy(path, options.seed, folder)
        task = progress.add_task("", total=options.episodes)
        for result in evaluate(str(path), options):
            results.append(result)
            key = "success" if "success" in result else "score"
            mean = sum(r[key] for r in results) / len(results)
            progress.update(task, advance=1, description=f"{key} {mean:.2f}")
    seconds = time.perf_counter() - started
    record = {
        "skill": options.skill,
        "split": "" if options.lab_dataset else options.split,
        "episodes": options.episodes,
        "seed": options.seed,
        "dataset": options.lab_dataset or shown(options.file),
        "policy": options.policy,
        "checkpoint": UNTRAINED if untrained else str(path),
        "actions": options.actions,
        "images": options.images,
        "sim": options.sim,
        "rules": load_policy(path).metadata.get("rules", OURS) if learned else OURS,
        "task": options.changes,
        **summarise(results),
        "steps_per_second": sum(r["length"] for r in results) / seconds,
        "machine": machine(),
    }
    show(record)
    if options.json:
        write_json(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
