"""`python -m rearrange.view`: see `rearrange.view.command`."""

from rearrange.command_line import run_command
from rearrange.view.command import main

if __name__ == "__main__":
    run_command(main)
