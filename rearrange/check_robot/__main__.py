"""`python -m rearrange.check_robot`: see `rearrange.check_robot.command`."""

from rearrange.check_robot.command import main
from rearrange.command_line import run_command

if __name__ == "__main__":
    run_command(main)
