"""`python -m rearrange.view TASK`: one episode of a task as a labelled picture; `homes`: plans from above.

The sheet shows the robot in the apartment with the walls between cut away, what its head camera sees,
the map with the shortest path, and what the episode asks for. Objects to be moved are boxed in white,
green ghosts stand at their goals, a grey sphere marks where Navigate is sent, and an amber box the handle
that is to be opened or closed. `--steps K` adds what happens under random actions, `--viewer` opens
MuJoCo's own viewer instead. `homes --split val --count 24` writes a sheet of homes without a task, each of
another plan, with the names of rooms and receptacles, and says how many draws were rejected, and why.

`rearrange view` also draws a navigation task, such as pointnav; with `--live` it is `rearrange live`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PIL import Image

from rearrange.command_line import (
    OneLineParser,
    check_counts,
    check_picture,
    output_file,
    save_picture,
)
from rearrange.env import RearrangeEnv
from rearrange.episodes import EpisodeSet, default_path, find_dataset
from rearrange.episodes.dataset import SAMPLED, shown
from rearrange.errors import UserError
from rearrange.render.sheet import Picture
from rearrange.robot import DEFAULT_ROBOT
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.generator import draw_apartment
from rearrange.scenes.homes import find_plan
from rearrange.scenes.registry import (
    DEFAULT_HOMES,
    GENERATED,
    HOMES,
    layouts_of,
    spec_of_homes,
)
from rearrange.sim.base import CONTROL_STEP
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import TASKS
from rearrange.view.episode_sheet import contact_sheet, run_on, running
from rearrange.view.home_sheet import home_sheet

PLANS = "homes"  # what is shown instead of a task
COUNT = 24  # of them, where nobody says


def open_viewer(world: RearrangeEnv, actions: str, seed: int) -> None:
    """Show the episode in MuJoCo's own viewer until its window is closed.

    Raises:
        UserError: There is no display, or the viewer's window library is not installed.
    """
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        raise UserError("--viewer needs a display and DISPLAY is not set: leave it out for a PNG")
    try:
        from mujoco import viewer
    except ImportError:
        raise UserError("--viewer needs a window library: pip install glfw") from None
    apartment, data = running(world)
    with viewer.launch_passive(apartment.model, data) as window:
        while window.is_running():
            began, ended = time.perf_counter(), False
            with window.lock():
                ended = run_on(world, world.elapsed_steps + 1, actions, seed)
                if ended:
                    world.reset(options={"episode": world.episode})
            window.sync()
            time.sleep(max(0.0, CONTROL_STEP - (time.perf_counter() - began)))


def load_world(options: argparse.Namespace) -> RearrangeEnv:
    """A world in the episode that was asked for; UserError where there is none."""
    world = RearrangeEnv(
        options.task,
        split=options.split,
        simulator=SimulatorConfig(robot=options.robot, camera_size=8),
        homes=options.homes,
    )
    count = options.episode + 1
    place = options.split, count, options.homes, options.robot
    episodes, _ = find_dataset(options.dataset, options.task, *place)
    if episodes is None and options.dataset is None:
        path = default_path(options.task, options.split, options.homes, options.robot)
        if path.exists():
            raise UserError(
                f"--episode {options.episode}: {shown(path)} holds {len(EpisodeSet.load(path))} "
                f"episodes; take one of them, or --dataset {SAMPLED}"
            )
    if episodes is None:
        world.reset(seed=options.seed + options.episode)
    else:
        chosen = episodes.episode(options.episode, options.seed)
        world.reset(seed=options.seed, options={"episode": chosen})
    return world


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line; raises UserError where it is wrong."""
    parser = OneLineParser(prog="python -m rearrange.view", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("task", help=", ".join((*TASKS, PLANS)))
    parser.add_argument("--episode", type=int, default=0, metavar="N", help="place in the file")
    parser.add_argument("--split", default="val", help="train, val (default) or test apartments")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="order, random actions")
    parser.add_argument("--dataset", metavar="PATH", help='an episode file, or "sampled"')
    parser.add_argument(
        "--output", type=output_file, metavar="PATH.png", help="instead of runs/view/"
    )
    parser.add_argument("--steps", type=int, default=0, metavar="K", help="run on and show it")
    parser.add_argument("--count", type=int, metavar="N", help="of homes (24, or all there are)")
    parser.add_argument("--homes", **HOMES)
    parser.set_defaults(homes=None)
    parser.add_argument("--robot", default=DEFAULT_ROBOT, metavar="NAME", help="who acts")
    parser.add_argument("--actions", choices=("random", "zero"), default="random")
    parser.add_argument("--viewer", action="store_true", help="MuJoCo's viewer instead of a PNG")
    options = parser.parse_args(arguments)
    check_picture(options)
    # Eleven plans are soon seen: a sheet of them is of those without end.
    options.homes = options.homes or (GENERATED if options.task == PLANS else DEFAULT_HOMES)
    check_counts(options, "count")
    return options


def main(arguments: Sequence[str]) -> int:
    """Write the sheet, or open the viewer; returns the exit code."""
    options = parse(arguments)
    if options.task == PLANS:
        path = options.output or Path("runs") / "view" / f"homes_{options.split}.png"
        save_picture(Image.fromarray(sheet_of_homes(options)), path)
        return 0
    world = load_world(options)
    if options.viewer:
        open_viewer(world, options.actions, options.seed)
        return 0
    name = f"{options.task}_{options.split}_{options.episode}.png"
    path = options.output or Path("runs") / "view" / name
    sheet = contact_sheet(world, options.task, options.steps, options.actions, options.seed)
    save_picture(sheet, path)
    return 0


def sheet_of_homes(options: argparse.Namespace) -> Picture:
    """Homes of a split, each of another plan as long as there are plans."""
    layouts = layouts_of(options.split, options.homes)
    spec = spec_of_homes(options.homes)
    most = len(layouts) * spec.variations
    if options.count is None:
        options.count = min(COUNT, most)
    if not 1 <= options.count <= most:
        raise UserError(f"--count must be 1 to {most}, found {options.count}")
    rejected: Counter[str] = Counter()
    make = partial(draw_apartment, rejected=rejected) if spec is APARTMENT else spec.make
    homes = [
        make(layouts[i % len(layouts)], i // len(layouts) % spec.variations)
        for i in range(options.seed, options.seed + options.count)
    ]
    if options.homes == GENERATED:
        plans: Counter[str] = Counter()
        numbers = {home.layout for home in homes}
        for number in numbers:
            find_plan(number, plans)
        print(told_rejections("plans", len(numbers), plans))
    print(told_rejections("homes", len(homes), rejected))
    return home_sheet(homes)


def told_rejections(what: str, kept: int, rejected: Counter[str]) -> str:
    """The share of draws that were rejected, and how many for which reason, in one line."""
    drawn = kept + rejected.total()
    reasons = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common())
    told = f"{what}: {rejected.total()} of {drawn} draws rejected ({rejected.total() / drawn:.0%})"
    return f"{told}: {reasons}" if reasons else told
