"""`python -m skills.emergent_navigation`: from how far away does Pick still succeed?

Pick seldom has to drive far, yet policies that may move their base learn to (VER paper, section 6.2). Here
Pick's own episodes begin at given distances from the object, for several checkpoints: early and late ones,
with and without base motion, and untrained weights as the floor. Pick's own starts are at most 2 m away in a
straight line, which can be a longer way around a wall; the plot and the JSON tell how long.

The distance is the way along the floor from the base to the place nearest to the object where the robot can
stand, as Navigate measures it. As in the paper's NavPick, the first interaction of Tidy House without Navigate,
the robot faces anywhere; `--heading object` turns it to the object, as Pick's own starts do up to noise.
Every distance has the same time limit, longer than Pick's own 300 steps, so that the distance alone
changes. Episode k is the same at every distance for every checkpoint, but for where the robot stands,
unless its apartment is too small for that.
"""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from rearrange.command_line import (
    OneLineParser,
    check_counts,
    check_picture,
    output_console,
    output_file,
)
from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode
from rearrange.navigation import DistanceField, distance_field, load_layout
from rearrange.scenes.registry import DEFAULT_HOMES, spec_of_homes
from rearrange.tasks import Pick
from rearrange.tasks.sampling import source_of
from rearrange.threads import processors
from skills.command import counted, run_command
from skills.eval import SEED_STRIDE, untrained_copy
from skills.eval_options import UNTRAINED
from skills.learned import check_metadata
from skills.places import count_places, plans_of, told_places
from skills.players import PolicyPlayer
from skills.plot import load_pyplot
from skills.provenance import add_homes, check_homes_asked, made, write_result
from skills.settings import CHECKPOINTS
from skills.statistics import Proportion, proportion
from skills.summary import causes_of
from skills.workers import play_in_workers
from ver import UserError, read_metadata

DEFAULT = (f"trained={CHECKPOINTS / 'pick.safetensors'}", f"{UNTRAINED}={UNTRAINED}")
DISTANCES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0)  # [m]
TOLERANCE = 0.1  # of a distance [m]
EPISODE_ATTEMPTS = 200  # that are drawn until one has a free start at the distance
POSE_ATTEMPTS = 20  # in an episode until one touches nothing
MAX_STEPS = 500  # [300 in Pick, 200 for a Pick in a plan] the way and the picking
RECORDED = ("split", "homes", "seed", "actions", "heading", "max_steps", "episodes")  # options
WAYS = (0.5, 0.95)  # quantiles of the ways in Pick's own episodes that are told


@dataclass(frozen=True)
class Settings:
    """Settings of a worker.

    Attributes:
        split: Apartments.
        seed: Seeds starts and sampled actions.
        actions: "mean" or "sampled".
        heading: "random", or "object": the robot faces it.
        max_steps: Time limit of every episode.
        checkpoints: Label -> policy file.
        homes: Collection of homes.
    """

    split: str
    seed: int
    actions: str
    heading: str
    max_steps: int
    checkpoints: Mapping[str, str]
    homes: str = DEFAULT_HOMES


@dataclass(frozen=True)
class Result:
    """One episode.

    Attributes:
        label: Which checkpoint.
        distance: That was asked for [m].
        index: Of the episode.
        own_way: From where Pick itself would have begun it, along the floor [m].
        metrics: As the environment tells them, and layout and variation of the apartment.
    """

    label: str
    distance: float
    index: int
    own_way: float
    metrics: dict[str, Any]


def floor_of(episode: Episode) -> DistanceField:
    """The way along the floor to the place nearest to the object where the robot can stand."""
    x, y, _ = episode.targets[0].start
    return distance_field(load_layout(episode.layout, episode.variation)[1], (x, y))


def start_at(
    episode: Episode, floor: DistanceField, distance: float, heading: str, rng: np.random.Generator
) -> Episode | None:
    """The episode with the base elsewhere.

    Args:
        episode: An episode of Pick.
        floor: Of the episode.
        distance: How far the base shall be along the floor [m].
        heading: "random", or "object": the robot faces it.
        rng: Source of randomness.

    Returns:
        The episode, or None where its apartment has no place at that distance.
    """
    grid = floor.grid
    cells = np.argwhere(grid.island & (np.abs(floor.distance - distance) <= TOLERANCE))
    if len(cells) == 0:
        return None
    x, y = (float(value) for value in grid.center_of(cells[rng.integers(len(cells))]))
    yaw = float(rng.uniform(-math.pi, math.pi))
    if heading == "object":
        goal_x, goal_y, _ = episode.targets[0].start
        yaw = math.atan2(goal_y - y, goal_x - x)
    return replace(episode, base_pose=(x, y, yaw))


def draw_start(
    world: RearrangeEnv, settings: Settings, distance: float, index: int
) -> tuple[Episode, float]:
    """Episode `index` at a distance [m], the robot touching nothing, and its own start's distance [m].

    Raises:
        UserError: None was found.
    """
    task = Pick(scene=spec_of_homes(settings.homes))
    rng = np.random.default_rng([settings.seed, index])
    apartments = source_of(settings.split, settings.homes)
    for _ in range(EPISODE_ATTEMPTS):
        episode = task.sample_episode(apartments, rng)
        floor = floor_of(episode)
        for _ in range(POSE_ATTEMPTS):
            moved = start_at(episode, floor, distance, settings.heading, rng)
            if moved is None:
                break
            world.reset(options={"episode": moved})
            if world.state.contact_force[0] == 0.0:
                return moved, floor.at(*episode.base_pose[:2])
    raise UserError(
        f"no free start {distance:g} m along the floor from an object in {EPISODE_ATTEMPTS} "
        f"{settings.split} episodes: leave {distance:g} out of --distances"
    )


class Studio:
    """Plays episodes of a study in one process, with one policy at a time."""

    def __init__(self, settings: Settings) -> None:
        """Load nothing yet."""
        self.settings = settings
        self._label: str | None = None
        self._player: PolicyPlayer | None = None

    def play(self, label: str, distance: float, index: int) -> Result:
        """Play one episode."""
        settings, player = self.settings, self._player_of(label)
        episode, own_way = draw_start(player.environment, settings, distance, index)
        seed = settings.seed * SEED_STRIDE + index
        metrics = player.play(seed, {"episode": episode})
        home = {"layout": episode.layout, "variation": episode.variation}
        return Result(label, distance, index, own_way, home | metrics)

    def _player_of(self, label: str) -> PolicyPlayer:
        if self._player is None or label != self._label:
            settings, path = self.settings, self.settings.checkpoints[label]
            mean = settings.actions == "mean"
            changes, place = {"max_steps": settings.max_steps}, {"homes": settings.homes}
            self._player = PolicyPlayer(path, mean, settings.split, changes=changes, place=place)
            self._label = label
        return self._player


def play_all(
    settings: Settings, distances: Sequence[float], episodes: int, workers: int
) -> Iterator[Result]:
    """Results of every checkpoint at every distance, in the order in which they end."""
    # Distances innermost: a distance that no apartment has shows at once.
    cases = [
        (label, distance, index)
        for label in settings.checkpoints
        for index in range(episodes)
        for distance in distances
    ]
    yield from play_in_workers(partial(Studio, settings), cases, workers)


def summarise(results: Sequence[Result], labels: Iterable[str]) -> dict[str, Any]:
    """Success by checkpoint, in the order of the labels, and distance; the ways of Pick's own starts."""
    curves: dict[str, list[dict[str, Any]]] = {label: [] for label in labels}
    distances = sorted({result.distance for result in results})
    for label, distance in itertools.product(curves, distances):
        played = [r.metrics for r in results if (r.label, r.distance) == (label, distance)]
        succeeded = [metrics["success"] > 0 for metrics in played]
        causes = Counter(cause for metrics in played for cause in causes_of(metrics))
        curves[label].append(
            {
                "distance": distance,
                "episodes": len(played),
                "success_at_end": proportion(succeeded, plans_of(played)).as_json(),
                "failures": dict(causes.most_common()),
                "mean_length": float(np.mean([metrics["length"] for metrics in played])),
            }
        )
    ways = np.quantile([result.own_way for result in results], WAYS)
    own_ways = {f"{q:g}": float(way) for q, way in zip(WAYS, ways, strict=True)}
    return {**count_places([r.metrics for r in results]), "own_ways": own_ways, "curves": curves}


def show(record: dict[str, Any]) -> None:
    """Print the record as a table."""
    curves = record["curves"]
    played = counted(record["episodes"], f"{record['split']} episode")
    table = Table(
        title=f"Pick's success by its way, {played}{told_places(record)} each",
        caption="brackets: 95 % intervals over plans",
    )
    for name in ("metres", *curves):
        table.add_column(escape(name), justify="right")
    for points in zip(*curves.values(), strict=True):
        told = [str(Proportion(**point["success_at_end"])) for point in points]
        table.add_row(f"{points[0]['distance']:g}", *told)
    output_console().print(table)


def plot(record: dict[str, Any], path: Path) -> None:
    """Success against distance, a line and its interval for every checkpoint."""
    pyplot = load_pyplot()
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for label, points in record["curves"].items():
        x = [point["distance"] for point in points]
        mean, low, high = (
            [100 * point["success_at_end"][key] for point in points]
            for key in ("mean", "low", "high")
        )
        axes.plot(x, mean, marker="o", markersize=4, label=label)
        axes.fill_between(x, low, high, alpha=0.15)
    middle, most = record["own_ways"].values()
    axes.axvline(middle, color="0.5", linestyle=":", label="Pick's own starts: half are nearer")
    axes.axvline(most, color="0.5", linestyle="--", label="95 % are nearer")
    axes.set(
        xlabel="way along the floor to the object at the start [m]",
        ylabel=f"success at end [%], n = {record['episodes']} each, 95 % intervals",
        xlim=(0, None),
        ylim=(-2, 102),  # lines at 0 and 100 are seen whole
        title=f"Pick, {record['actions']} actions, heading: {record['heading']}, "
        f"{record['max_steps']} steps, {record['split']}",
    )
    axes.title.set_fontsize("medium")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line."""
    parser = OneLineParser(prog="skills.emergent_navigation", description=__doc__)
    parser.add_argument(
        "--checkpoint",
        action="append",
        metavar="LABEL=PATH",
        help=f"a line of the plot, given as often as you like; PATH '{UNTRAINED}': random weights; "
        f"default: the shipped Pick and {UNTRAINED}",
    )
    parser.add_argument(
        "--distances",
        type=float,
        nargs="+",
        default=DISTANCES,
        metavar="M",
        help=f"along the floor [m]; default: {' '.join(f'{each:g}' for each in DISTANCES)}",
    )
    add = partial(parser.add_argument, metavar="N", type=int)
    add("--episodes", default=100, help="of every line and distance; default: %(default)s")
    add("--max-steps", default=MAX_STEPS, help="of every episode; default: %(default)s")
    add("--seed", default=0, help="of starts and sampled actions; default: %(default)s")
    add("--workers", default=processors(), help="processes; default: cores")
    choose = partial(parser.add_argument, help="default: %(default)s")
    choose("--actions", choices=("mean", "sampled"), default="mean")
    choose("--heading", choices=("random", "object"), default="random")
    add_homes(parser)
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    parser.add_argument("--output", type=output_file, help="PNG to write")
    options = parser.parse_args(arguments)
    check_homes_asked(options)
    check_counts(options, "episodes", "workers", "max_steps")
    check_picture(options)
    return options


def checkpoints_of(given: Sequence[str], seed: int, folder: str) -> dict[str, str]:
    """The policies that are compared, by label.

    Args:
        given: LABEL=PATH each.
        seed: Of untrained weights.
        folder: Where untrained weights go.

    Raises:
        UserError: A label is missing or there twice, or a file holds no policy for Pick.
    """
    found: dict[str, str] = {}
    for text in given:
        label, _, path = text.partition("=")
        if not label or not path:
            raise UserError(f"--checkpoint must be LABEL=PATH, found '{text}'")
        if label in found:
            raise UserError(f"--checkpoint: two are labelled '{label}': rename one")
        found[label] = path
    files = [path for path in found.values() if path != UNTRAINED]
    for path in files:
        check_metadata(path, read_metadata(path), "pick")
    if UNTRAINED in found.values():
        like = Path(files[0]) if files else CHECKPOINTS / "pick.safetensors"
        fresh = str(untrained_copy(like, seed, folder))
        found = {label: fresh if path == UNTRAINED else path for label, path in found.items()}
    return found


def main(arguments: Sequence[str]) -> int:
    """Play, sum up, plot."""
    options = parse(arguments)
    if options.output is not None:
        load_pyplot()  # tell that it is missing now, not after all the work
    given, distances = options.checkpoint or DEFAULT, sorted(set(options.distances))
    origin = made(
        "skills.emergent_navigation", arguments, what="how far away Pick begins",
        seed=options.seed, split=options.split, homes=options.homes, release=options.release,
        checkpoints=[file for text in given if Path(file := text.partition("=")[2]).is_file()],
    )  # fmt: skip
    results: list[Result] = []
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    started = time.perf_counter()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        checkpoints = checkpoints_of(given, options.seed, folder)
        progress = stack.enter_context(Progress(TextColumn("{task.description}"), *columns))
        given_settings = options.split, options.seed, options.actions, options.heading
        settings = Settings(*given_settings, options.max_steps, checkpoints, options.homes)
        total = len(checkpoints) * len(distances) * options.episodes
        task = progress.add_task("episodes", total=total)
        for result in play_all(settings, distances, options.episodes, options.workers):
            results.append(result)
            progress.update(task, advance=1)
            if not progress.console.is_terminal and 10 * len(results) % total < 10:
                print(f"{len(results)} of {total} episodes", flush=True)
    record = {
        "made": origin,
        **{name: getattr(options, name) for name in RECORDED},
        "tolerance": TOLERANCE,
        "checkpoints": {text.partition("=")[0]: text.partition("=")[2] for text in given},
        **summarise(results, checkpoints),
        "seconds": time.perf_counter() - started,
    }
    if options.json:
        write_result(options.json, record)
    show(record)
    if options.output is not None:
        plot(record, options.output)
    return 0


if __name__ == "__main__":
    run_command(main)
