"""`rearrange COMMAND ...`: every command of the project under one name.

A command is a module that is run as `python -m MODULE` with the same arguments. It is imported only then,
so that help comes at once.
"""

from __future__ import annotations

import difflib
import runpy
import sys
from pathlib import Path
from typing import NamedTuple, NoReturn

from interrupts.command_line import run_command


class Command(NamedTuple):
    """A word of `rearrange`.

    Attributes:
        module: What is run.
        about: What it does, in a few words.
        arguments: What comes before the user's own.
    """

    module: str
    about: str
    arguments: tuple[str, ...] = ()


_DEMO = (
    *(
        "tidy_house",
        "--episodes",
        "3",
        "--split",
        "val",
        "--skills",
        "mixed",
        "--replan",
        "--video",
    ),
    *("--output", "runs/demo", "--json", "runs/demo/result.json"),
    *("--page", "runs/demo/report.html"),
)
COMMANDS = {
    "demo": Command("planner.eval", "film a robot in three unseen homes: runs/demo/", _DEMO),
    "train": Command("skills.train", "train a skill: rearrange train pick"),
    "household": Command("planner.household", "train all skills, from nothing to judged chores"),
    "eval": Command("skills.eval", "judge a skill: rearrange eval pick"),
    "plan": Command("planner.eval", "plan and do a chore: rearrange plan tidy_house"),
    "film": Command("planner.film", "film successes and failures"),
    "live": Command("live", "watch a policy, an oracle or yourself act, in the browser"),
    "view": Command("rearrange.view", "draw an episode, or homes from above; --live: as live"),
    "check-scene": Command("rearrange.check_scene", "say what your own home lacks, and draw it"),
    "check-robot": Command("rearrange.check_robot", "say what your own robot lacks, and draw it"),
    "episodes": Command("rearrange.episodes", "make and check episode files"),
    "record": Command("planner.rollouts", "write what a robot sees and does as a LeRobotDataset"),
    "plot": Command("skills.plot", "draw the curves of trainings"),
    "bench": Command("benchmarks.world", "measure the simulator on this machine"),
    "reproduce": Command("experiments", "make tables and figures of papers again"),
    "push": Command("skills.hub", "upload a policy to a Hugging Face Hub", ("push",)),
    "pull": Command("skills.hub", "fetch a policy from one", ("pull",)),
    "completion": Command("console.completion", "a script by which a shell completes all this"),
    "doctor": Command("console.doctor", "what is installed, what is missing, how fast this is"),
}
DEMO_HELP = """usage: rearrange demo [option of rearrange plan ...]

Films Tidy House in three homes that nothing was trained in, into runs/demo/. The same as

    rearrange plan {words}

What is given here comes after that, and goes before it: rearrange demo --episodes 1."""
NAV_VIEW = Command("nav.view", "draw an episode of a navigation task")


def help_text() -> str:
    """All commands, a line each."""
    width = max(map(len, COMMANDS))
    lines = ["usage: rearrange COMMAND ...      rearrange COMMAND --help", ""]
    lines += [f"  {name:{width}}  {command.about}" for name, command in COMMANDS.items()]
    return "\n".join(lines)


def _name_command(words: str) -> None:
    """Let its help and its errors say what was typed."""
    from rearrange.command_line import OneLineParser  # brings numpy, which help can do without

    OneLineParser.called = words


def _version() -> str:
    """Of the package that is installed."""
    from importlib.metadata import version

    return version("rearrange")


def _name_navigation(words: list[str]) -> bool:
    """Tells whether one of them is a navigation task, which has a sheet of its own."""
    from nav.registration import IDS  # brings numpy, too

    return not IDS.keys().isdisjoint(words)


def _tell_whose_code_runs() -> None:
    """Say so where the user stands in one checkout, and another is installed."""
    here = Path.cwd() / "console" / Path(__file__).name
    if here.exists() and not here.samefile(__file__):
        print(
            f"rearrange: runs the code of {Path(__file__).resolve().parent.parent}, which is installed, "
            "not that of this folder (python -m console does)",
            file=sys.stderr,
        )


def main() -> NoReturn:
    """Run the command that the arguments name; exit code 2 where there is no such command."""
    words = sys.argv[1:]
    if words[:1] in (["--help"], ["-h"], ["help"]):
        run_command(lambda _: print(help_text()), ())
    if words[:1] == ["--version"]:
        run_command(lambda _: print(f"rearrange {_version()}"), ())
    if words[:1] == ["demo"] and {"-h", "--help"} & {*words}:
        run_command(lambda _: print(DEMO_HELP.format(words=" ".join(_DEMO))), ())
    if not words:
        print(help_text(), file=sys.stderr)
        raise SystemExit(2)
    name, *rest = words
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        print(f"rearrange: no command '{name}'{hint}: rearrange --help lists them", file=sys.stderr)
        raise SystemExit(2)
    _tell_whose_code_runs()
    command = COMMANDS[name]
    if name == "view" and "--live" in rest:
        name, command = "live", COMMANDS["live"]
        rest.remove("--live")
    elif name == "view" and _name_navigation(rest):
        command = NAV_VIEW
    sys.argv[1:] = [*command.arguments, *rest]
    # A word that a module asks for, too, stands in its help by itself
    _name_command("rearrange" if command.arguments == (name,) else f"rearrange {name}")
    try:
        runpy.run_module(command.module, run_name="__main__", alter_sys=True)
    except KeyboardInterrupt:  # while it was imported
        print("interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    raise SystemExit(0)
