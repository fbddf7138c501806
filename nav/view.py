"""`python -m nav.view TASK`: one episode of a navigation task as a labelled picture.

At the left is what the agent sees, at the right the map, with a ring at the goal and discs where things are
that it looks for. `--steps K` runs on with random actions, whose way is drawn. `rearrange view pointnav` is
the same command.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from nav.baselines import RandomAgent
from nav.env import NavEnv
from nav.picture import SIZE, NavPicture
from nav.table import all_tasks, find_task
from rearrange.command_line import (
    OneLineParser,
    check_picture,
    output_file,
    run_command,
    save_picture,
)
from rearrange.render.sheet import FAINT, Picture, Sheet
from rearrange.scenes.registry import HOMES

CAMERA = 180  # pixels of what is seen: half of how large it is drawn
MARGIN, LINE = 14, 20


def main(arguments: Sequence[str]) -> int:
    """Write the sheet; returns the exit code."""
    options = parse(arguments)
    name = f"{options.task}_{options.split}_{options.episode}.png"
    path = options.output or Path("runs") / "view" / name
    save_picture(sheet_of(options), path)
    return 0


def parse(arguments: Sequence[str]) -> Namespace:
    """Read the command line; raises UserError where it is wrong."""
    parser = OneLineParser(prog="nav.view", description=__doc__)
    parser.add_argument("task", choices=tuple(all_tasks()), help="which")
    parser.add_argument("--episode", type=int, default=0, metavar="N", help="as skills.eval's (0)")
    parser.add_argument("--split", default="val", help="train, val (default) or test buildings")
    parser.add_argument("--homes", **HOMES)
    parser.add_argument("--steps", type=int, default=0, metavar="K", help="random ones, before")
    parser.add_argument("--output", type=output_file, metavar="PATH.png", help="not runs/view/")
    options = parser.parse_args(arguments)
    check_picture(options)
    return options


def sheet_of(options: Namespace) -> Sheet:
    """The sheet of an episode, as far as it has come."""
    agent = replace(find_task(options.task).agent_config(), camera_size=CAMERA)
    env = NavEnv(options.task, None, options.split, options.homes, agent)
    observation, _ = env.reset(seed=options.episode)
    picture, chance = NavPicture(env.worlds, 0, env.episode), RandomAgent(env, options.episode)
    chance.can_stop = False
    steps, ended = 0, False
    while steps < options.steps and not ended:
        observation, _, terminated, truncated, _ = env.step(chance.act(observation))
        steps, ended = steps + 1, terminated or truncated
        picture.map()  # notes the way
    return _drawn(env, picture.draw(), facts(env, steps))


def _drawn(env: NavEnv, pictures: Picture, lines: Sequence[str]) -> Sheet:
    top = 56
    sheet = Sheet(pictures.shape[1] + 3 * MARGIN, top + SIZE + MARGIN + LINE * len(lines) + MARGIN)
    sheet.text(env.task.name, MARGIN, 8, 24)
    building = env.episode.building
    sheet.text(building, 2 * MARGIN + sheet.width_of(env.task.name, 24), 16, 15, FAINT)
    seen = "what the agent sees" if env.worlds.config.rgb else "depth, 0 to 5 m"
    sheet.put(pictures[:, :SIZE], MARGIN, top, seen)
    sheet.put(pictures[:, SIZE:], 2 * MARGIN + SIZE, top, "map, with the way so far")
    for row, line in enumerate(lines):
        sheet.text(line, MARGIN, top + SIZE + MARGIN + LINE * row)
    return sheet


def facts(env: NavEnv, steps: int) -> list[str]:
    """Goal and whereabouts of the agent, line by line."""
    episode, (x, y, yaw) = env.episode, env.worlds.poses[0].tolist()
    lines = []
    if episode.goal is not None:
        lines.append("goal: ({:.2f}, {:.2f}) m".format(*episode.goal))
    if episode.category is not None:
        lines.append(f"looks for: {episode.category}")
    distance = float(env.worlds.distances[0])
    if not np.isnan(distance):
        lines.append(f"shortest way that is left: {distance:.1f} m")
    start = f"({episode.start[0]:.2f}, {episode.start[1]:.2f}) m"
    now = f"after {steps} steps at ({x:.2f}, {y:.2f}) m, heading {math.degrees(yaw):.0f} degrees"
    lines.append(f"began at {start}; {now}")
    return lines


if __name__ == "__main__":
    run_command(main)
