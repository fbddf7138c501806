"""`python -m rearrange.episodes`: makes and checks episode files; see `rearrange.generate.command`."""

from rearrange.command_line import run_command
from rearrange.errors import UserError
from rearrange.generate.command import main

if __name__ == "__main__":
    run_command(main, (UserError, RuntimeError))
