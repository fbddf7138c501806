"""`rearrange check-robot FILE`: says what is missing or odd in a robot from files, and draws it.

FILE is the YAML file of the robot; docs/robots.md says what stands in it. Each line is one thing: a `fault` is
why the robot cannot be used, and then the exit code is 2; all else works all the same. The sheet shows the
robot at rest, what its camera sees, and where its hand gets straight ahead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rearrange.check_robot.checks import Checks
from rearrange.check_robot.sheet import draw_sheet
from rearrange.command_line import OneLineParser, check_file_and_sheet, output_file, save_picture
from rearrange.robot.files import RobotError, read_robot
from rearrange.robot.registry import find_robot


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line; raises UserError where it is wrong."""
    parser = OneLineParser(prog="python -m rearrange.check_robot", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", metavar="FILE.yaml", help="of a robot")
    parser.add_argument(
        "--output", type=output_file, metavar="PATH.png", help="instead of runs/check_robot/"
    )
    options = parser.parse_args(arguments)
    check_file_and_sheet(options)
    return options


def main(arguments: Sequence[str]) -> int:
    """Say all there is to say, and draw; returns the exit code, 2 where the robot is of no use."""
    options = parse(arguments)
    try:
        found = read_robot(Path(options.file).resolve())
    except RobotError as error:
        for fault in error.faults:
            print(f"fault: {fault}", file=sys.stderr)
        return 2
    find_robot(options.file)  # refuses a name that another robot has
    checks = Checks(found)
    checks.remarks[:0] = found.notes.remarks
    for line in checks.facts:
        print(line)
    for line in checks.remarks:
        print(f"odd: {line}")
    path = options.output or Path("runs") / "check_robot" / f"{found.spec.name}.png"
    save_picture(draw_sheet(checks), path, "sheet: ")
    return 0
