"""`python -m live TASK`: a page in the browser that shows a world while somebody acts in it.

Who acts is a policy, an oracle, nobody, chance, or you with keys. The page has pause, single steps, slow
motion and a look back; it also works through a forwarded port. `--replay RESULT` plays the episodes of a
finished evaluation again, `--watch RUN` shows a training that was started with live=true.
"""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from live.controls import LAST
from planner.replanning import NEW_PLANS
from planner.rules import REDRIVES
from rearrange.caching import first_start
from rearrange.command_line import OneLineParser, refuse
from rearrange.errors import UserError, check_choice
from rearrange.scenes.registry import check_split
from rearrange.tasks import household_names
from skills.command import run_command, short_path
from skills.navigation import navigation_names
from skills.registry import skill_names

PLANNERS = ("policy", "oracle")  # who follow plans in chores
AGENTS = ("policy", "oracle", "zero", "random", "frontier", "drive")
OF_TASKS = {"agent": "policy", "split": "val", "dataset": None}  # options, and what they are unsaid
OF_WORLDS = {"episode": 0, "episodes": 0, "pause_at": None}  # likewise, not of --watch
LAST_PORT = 65535


def parse(arguments: Sequence[str]) -> Any:
    """The command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="live", description=__doc__)
    parser.add_argument(
        "task", nargs="?", default="",
        help=f"a skill, or one of {', '.join((*household_names(), *navigation_names()))}",
    )  # fmt: skip
    parser.add_argument("--agent", choices=AGENTS, default="policy", help="who acts (policy)")
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="another checkpoint; read again when it changes"
    )
    parser.add_argument("--split", default="val", help="which homes (val)")
    parser.add_argument(
        "--dataset", metavar="FILE", help="episodes, or 'sampled' (the shipped ones)"
    )
    parser.add_argument(
        "--replan", type=int, nargs="?", const=NEW_PLANS, default=0, metavar="N",
        help=f"at most N new plans in an episode of a chore ({NEW_PLANS}); see planner.eval",
    )  # fmt: skip
    parser.add_argument(
        "--redrive", type=int, nargs="?", const=REDRIVES, default=0, metavar="N",
        help=f"at most N new drives in a row ({REDRIVES}), likewise; see planner.eval",
    )  # fmt: skip
    parser.add_argument("--episode", type=int, default=0, metavar="N", help="the first (0)")
    parser.add_argument("--episodes", type=int, default=0, help="end after so many; 0: never")
    parser.add_argument(
        "--pause-at", type=int, metavar="STEP", help="pause there, once somebody looks"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="RESULT", help="of skills.eval, planner.eval"
    )
    parser.add_argument("--watch", type=Path, metavar="RUN", help="a training with live=true")
    for name in ("homes", "robot"):
        told = f"of --watch, where {name}= is an absolute path"
        parser.add_argument(f"--{name}", default="", metavar="FILE", help=told)
    parser.add_argument("--host", default="127.0.0.1", help="address (this machine alone)")
    parser.add_argument("--port", type=int, default=8080, help="of the page (8080)")
    options = parser.parse_args(arguments)
    _check(options)
    return options


def _check(options: Any) -> None:
    if sum(map(bool, (options.task, options.replay, options.watch))) != 1:
        raise UserError("give one of: TASK, --replay RESULT, --watch RUN")
    check_split(options.split)
    names = (*household_names(), *navigation_names(), *skill_names())
    if options.task:
        check_choice("task", options.task, names)
    if options.policy and (options.agent != "policy" or not options.task):
        raise UserError("--policy is whose weights --agent policy takes: leave one of them out")
    plans = options.task in household_names() and options.agent in PLANNERS and not options.policy
    if (options.homes or options.robot) and not options.watch:
        raise UserError("--homes and --robot say what --watch shows: leave them out")
    for name, unsaid in OF_TASKS.items():
        if not options.task and getattr(options, name) != unsaid:
            raise UserError(f"--{name} is for a TASK: leave it out")
    for name, unsaid in OF_WORLDS.items():
        if options.watch and getattr(options, name) != unsaid:
            option = name.replace("_", "-")
            raise UserError(f"--{option} is for worlds of this command's own: leave it out")
    if not plans:
        refuse(options, "{option} is for chores by plan: leave it out", replan=0, redrive=0)
    for name, low, high in (
        ("replan", 0, 100),
        ("redrive", 0, 100),
        ("episode", 0, LAST),
        ("episodes", 0, 10**9),
        ("port", 1, LAST_PORT),
    ):
        if not low <= getattr(options, name) <= high:
            raise UserError(f"--{name} must be from {low} to {high}")
    if not options.host:
        raise UserError("--host must not be empty: name an address of this machine")
    check_address(options.host, options.port)


def check_address(host: str, port: int) -> None:
    """Raise a UserError where no page can be served; a port that is taken is well if a later one is not."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE and port < LAST_PORT:
            return check_address(host, port + 1)
        reason = getattr(error, "strerror", "") or error
        raise UserError(f"--host {host} --port {port}: {reason}; choose others") from None


def main(arguments: Sequence[str]) -> int:
    """Serve the page until it is interrupted."""
    options = parse(arguments)
    from live.window import open_page

    page = open_page(options.host, options.port, title_of(options))
    try:
        _serve(options, page)
    except KeyboardInterrupt:
        if not options.watch:  # that one ends with its training, which says so itself
            print("ended", file=sys.stderr)
    finally:
        page.close()
    return 0


def title_of(options: Any) -> str:
    """The title of the page."""
    if options.watch:
        return f"training in {short_path(options.watch)}"
    return f"{options.replay}" if options.replay else f"{options.task}: {options.agent}"


def _serve(options: Any, page: Any) -> None:
    host = f"[{options.host}]" if ":" in options.host else options.host  # IPv6
    address = f"http://{host}:{page.port}"
    if options.watch:
        from live.training import TrainingPage, give_way

        give_way()
        training = TrainingPage(page, options.watch, options.homes, options.robot)
        if not training.peek.is_written():
            raise UserError(f"the training in {options.watch} has ended: nothing is to be watched")
        print(f"{address}   shows the training", flush=True)
        return training.watch()
    from live.agents import make_agent
    from live.episodes import Episodes

    page.pause_at = options.pause_at
    if options.replay:
        from live.replay import Result, offer

        result = Result(options.replay)
        agent = result.make_agent(page)
        offer(result, page, page.controls.episodes, page.pace.leave)
    else:
        episodes = Episodes.find(options.task, options.split, options.dataset)
        mended = options.replan, options.redrive
        agent = make_agent(options.agent, episodes, page, options.policy, *mended)
    print(f"{address}   shows {title_of(options)}; Ctrl-C ends it{first_start()}", flush=True)
    play_all(agent, page, options.episode, options.episodes)


def play_all(agent: Any, page: Any, number: int, count: int = 0) -> None:
    """Play episodes, from a number on, until somebody chooses others.

    Args:
        agent: See `live.agents`.
        page: See `live.page`.
        number: Of the first.
        count: How many; 0: without end.
    """
    from live.pace import NextEpisode

    played = ended = successes = 0
    while not count or played < count:
        played += 1
        page.controls.begin(number)
        with suppress(NextEpisode):
            outcome = agent.play(number, page.show)
            ended, successes = ended + 1, successes + outcome.startswith("success")
            page.tally = f"so far: {successes} of {ended} succeeded"
            page.hold(outcome)
        number = page.pace.following(number)


if __name__ == "__main__":
    run_command(main)
