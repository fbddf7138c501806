"""`python -m live TASK`: a page in the browser that shows a world while somebody acts in it.

Who acts is the shipped policy, an oracle, nobody, chance, or you with sliders. The page has pause,
single steps and slow motion; it also works through a forwarded port.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from contextlib import suppress

from rearrange.command_line import OneLineParser
from rearrange.errors import UserError
from rearrange.scenes.apartment import check_split
from rearrange.tasks import household_names
from skills.command import run_command
from skills.registry import find, skill_names

AGENTS = ("policy", "oracle", "zero", "random", "sliders")


def main(arguments: Sequence[str]) -> int:
    """Serve the page until it is interrupted."""
    parser = OneLineParser(prog="live", description=__doc__)
    parser.add_argument("task", help=f"a skill, or one of {', '.join(household_names())}")
    parser.add_argument("--agent", choices=AGENTS, default="policy", help="who acts (policy)")
    parser.add_argument("--split", default="val", help="which homes (val)")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode (0)")
    parser.add_argument("--episodes", type=int, default=0, help="end after so many; 0: never")
    parser.add_argument("--host", default="127.0.0.1", help="address (this machine alone)")
    parser.add_argument("--port", type=int, default=8080, help="of the page (8080)")
    options = parser.parse_args(arguments)
    check_split(options.split)
    if options.task not in (*household_names(), *skill_names()):
        find(options.task)  # lists what there is
    for name, low, high in (("seed", 0, 2**31), ("episodes", 0, 10**9), ("port", 1, 65535)):
        if not low <= getattr(options, name) <= high:
            raise UserError(f"--{name} must be from {low} to {high}")
    try:
        from live.page import Page
    except ImportError:
        raise UserError("the live page needs viser: pip install viser") from None
    from live.agents import make_agent
    from live.pace import NextEpisode

    page = Page(options.host, options.port, f"{options.task}: {options.agent}")
    print(f"http://{options.host}:{page.port}   (Ctrl-C ends it)", flush=True)
    numbers = range(options.seed, options.seed + options.episodes)
    try:
        agent = make_agent(options.agent, options.task, options.split, page)
        for seed in numbers if options.episodes else itertools.count(options.seed):
            with suppress(NextEpisode):
                agent.play(seed, page.show)
    except KeyboardInterrupt:
        print("ended", file=sys.stderr)
    finally:
        page.close()
    return 0


if __name__ == "__main__":
    run_command(main)
