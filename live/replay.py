"""Episodes of a finished evaluation, played again as they were recorded.

A result of `skills.eval` or `planner.eval` holds the command that made it. An episode follows from that
command and its number, so the same code on the same machine plays it again, step by step.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from live.agents import Agent, Planner, Player
from planner.eval_options import parse as parse_chore
from planner.eval_options import settings_from
from rearrange.episodes import find_dataset
from rearrange.errors import UserError
from skills.eval import SEED_STRIDE, asked, make_player
from skills.eval_options import LEARNED, checkpoint_of, find_file, robot_of
from skills.eval_options import parse as parse_skill

WRITTEN = ("--json", "--ledger", "--page", "--output")  # options that name what is written
CHORES, SKILLS = "planner.eval", "skills.eval"


class Result:
    """A result of an evaluation, and who plays its episodes.

    Attributes:
        path: The file.
        module: That made it.
        arguments: Of that, without what was written.
        outcomes: Of the episodes by number, in a few words.
    """

    def __init__(self, path: Path) -> None:
        """Read a result.

        Raises:
            UserError: It is none, or not of an evaluation that can be shown.
        """
        self.path = path
        try:
            found = json.loads(path.read_text())
            words = shlex.split(found["made"]["command"])
            self.module, arguments = words[2], words[3:]
            self.outcomes = _outcomes(found)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from None
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise UserError(f"{path} is no result of an evaluation: {error!r}") from None
        if self.module not in (CHORES, SKILLS) or not self.outcomes:
            raise UserError(f"{path}: only episodes of {CHORES} and {SKILLS} can be played again")
        self.arguments = _read_only(arguments)

    def make_agent(self, page: Any) -> Agent:
        """The agent that played."""
        return _chore(self.arguments) if self.module == CHORES else _skill(self.arguments, page)


def _outcomes(found: dict[str, Any]) -> dict[int, str]:
    """The end of each episode; of rows as in the ledger, or of whole records."""
    told = {}
    for record in found.get("records", []):
        told[record["index"]] = _told(record["success_at_end"], record["failure"])
    table = found.get("per_episode", {"columns": [], "rows": []})
    for row in table["rows"]:
        values = dict(zip(table["columns"], row, strict=True))
        number = values.get("episode", values.get("index"))
        success = values.get("success", values.get("success_at_end", 0))
        told[number] = _told(success, values.get("failures") or values.get("failure"))
    return told


def _told(success: Any, failure: str | None) -> str:
    return "success" if success else (failure or "failed").replace("_", " ")


def _read_only(arguments: Sequence[str]) -> list[str]:
    """Arguments without those that name files to be written."""
    kept: list[str] = []
    skip = False
    for word in arguments:
        if not skip and word.split("=")[0] not in WRITTEN:
            kept.append(word)
        skip = word in WRITTEN
    return kept


def _chore(arguments: Sequence[str]) -> Agent:
    options = parse_chore(arguments)
    settings = replace(settings_from(options), video_directory=None, record_hand_offs=False)
    place = settings.split, settings.episodes, settings.homes, settings.robot
    episodes, _ = find_dataset(options.dataset, settings.task, *place)
    settings = replace(settings, dataset=None if episodes is None else episodes.path)
    return Planner(settings, settings.episodes)


def _skill(arguments: Sequence[str], page: Any) -> Agent:
    options = parse_skill(arguments)
    options.robot = robot_of(options)
    options.file, _ = find_file(options)

    def seeded(number: int) -> tuple[int, dict[str, Any] | None]:
        number %= options.episodes
        return options.seed * SEED_STRIDE + number, asked(options, number)

    checkpoint = str(checkpoint_of(options)) if options.policy == LEARNED else ""
    return Player(seeded, make_player(checkpoint, options), page)


def offer(result: Result, page: Any, folder: Any, play: Callable[[int], None]) -> None:
    """Put the choice among a result's episodes on the page.

    Args:
        result: Whose.
        page: See `live.page.Page`.
        folder: Where on it.
        play: Plays an episode.
    """
    titles = {number: f"{number}: {told}" for number, told in result.outcomes.items()}
    numbers = {title: number for number, title in titles.items()}
    with folder:
        chosen = page.server.gui.add_dropdown("recorded", tuple(numbers))

    @chosen.on_update
    def _(event: Any) -> None:
        if event.client is not None:  # a person chose it
            play(numbers[event.target.value])

    def follow(number: int) -> None:
        if number in titles:
            chosen.value = titles[number]

    page.controls.on_begin = follow
