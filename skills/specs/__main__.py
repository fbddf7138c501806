"""`python -m skills.specs [--check]`: names of all skills, or what each still lacks."""

from __future__ import annotations

from collections.abc import Sequence

from rearrange.command_line import OneLineParser
from skills.command import run_command
from skills.completeness import missing
from skills.registry import all_specs


def main(arguments: Sequence[str]) -> int:
    """Print one skill a line; with --check, status 1 where any lacks something."""
    parser = OneLineParser(prog="skills.specs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="tell what skills still lack")
    options = parser.parse_args(arguments)
    incomplete = False
    for name, spec in all_specs().items():
        lacks = missing(spec) if options.check else []
        incomplete |= bool(lacks)
        told = f"{name}: {'incomplete' if lacks else 'complete'}" if options.check else name
        print("\n    ".join([told, *lacks]))
    return int(incomplete)


if __name__ == "__main__":
    run_command(main)
