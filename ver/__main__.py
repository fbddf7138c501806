"""`python -m ver train ENV [key=value ...]`, and the other commands: docs/any_environment.md."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from interrupts.command_line import run_command
from ver.errors import UserError

COMMANDS = {  # of each its module, and what it does
    "train": ("ver.train", "train on an environment of Gymnasium, mjlab or Brax"),
    "eval": ("ver.eval", "judge a run's policy"),
    "league": ("ver.league.train", "train policies that play one another"),
    "rate": ("ver.league.rate", "rate the policies of a league"),
}


def main(arguments: Sequence[str]) -> int:
    """Run the command that the first word names."""
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help"):
        print("usage: python -m ver COMMAND ...      python -m ver COMMAND --help\n")
        print("\n".join(f"  {command:6} {about}" for command, (_, about) in COMMANDS.items()))
        return 0
    if name not in COMMANDS:
        raise UserError(f"unknown command '{name}': choose one of {', '.join(COMMANDS)}")
    return import_module(COMMANDS[name][0]).main(arguments[1:])


if __name__ == "__main__":
    run_command(main, (UserError,))
