"""`rearrange check-scene FILE`: says what is missing or odd in a home from files, and draws it.

FILE is the YAML file of the home; docs/homes.md says what stands in it. Each line is one thing: a `fault` is
why the home cannot be used, and then the exit code is 2; all else works all the same. The sheet shows the home
from above, the floor as the robot has it, and what the robot sees before receptacles and parts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rearrange.check_scene.checks import Checks
from rearrange.check_scene.sheet import draw_sheet
from rearrange.command_line import OneLineParser, check_file_and_sheet, output_file, save_picture
from rearrange.robot import DEFAULT_ROBOT
from rearrange.robot.registry import find_robot
from rearrange.scenes.home_files import HomeError, read_home
from rearrange.scenes.registry import check_homes, layouts_of
from rearrange.sim.apartment_model import load_apartment


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line; raises UserError where it is wrong."""
    parser = OneLineParser(prog="python -m rearrange.check_scene", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", metavar="FILE.yaml", help="of a home")
    parser.add_argument(
        "--robot", default=DEFAULT_ROBOT, metavar="NAME", help="who shall act there"
    )
    parser.add_argument(
        "--output", type=output_file, metavar="PATH.png", help="instead of runs/check_scene/"
    )
    options = parser.parse_args(arguments)
    check_file_and_sheet(options)
    return options


def main(arguments: Sequence[str]) -> int:
    """Say all there is to say, and write the sheet; returns the exit code, 2 where the home is of no use."""
    options = parse(arguments)
    robot = find_robot(options.robot)
    try:
        home = read_home(Path(options.file).resolve())
        faults, remarks = home.notes.faults, home.notes.remarks
        name = check_homes(options.file)
    except HomeError as error:
        for fault in error.faults:
            print(f"fault: {fault}", file=sys.stderr)
        return 2
    world = load_apartment(layouts_of("val", name)[0], 0, robot)
    checks = Checks(world, robot)
    checks.run()
    for line in checks.facts:
        print(line)
    for line in (*remarks, *checks.remarks):
        print(f"odd: {line}")
    for line in (*faults, *checks.faults):
        print(f"fault: {line}", file=sys.stderr)
    path = options.output or Path("runs") / "check_scene" / f"{name}.png"
    save_picture(draw_sheet(world, robot, checks), path, "sheet: ")
    return 2 if faults or checks.faults else 0
