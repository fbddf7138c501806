"""`python -m rearrange.check_scene`: see `rearrange.check_scene.command`."""

from rearrange.check_scene.command import main
from rearrange.command_line import run_command

if __name__ == "__main__":
    run_command(main)
