"""`python -m skills.eval SKILL`: success of a policy on episodes it has never seen, or of an oracle.

SKILL is a skill, a household scenario or a navigation task. `task.KEY=VALUE` after it judges a policy by
other numbers of the task, e.g. Navigate by a region as its goal:
`navigate task.geodesic=true task.goal_way=0.5`. `--sanity` adds rows that say what the policy's success
is worth: the same policy without sight, random actions, an oracle.

This module reads the command line and says whether it makes sense.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from nav.episode_files import HABITAT, SCAN, SCENES
from nav.table import find_task
from rearrange.command_line import OneLineParser, check_counts, output_file, refuse
from rearrange.episodes import find_dataset
from rearrange.episodes.dataset import SAMPLED
from rearrange.errors import UserError
from rearrange.habitat.dataset import DOWNLOAD, is_rearrange_dataset
from rearrange.habitat.process import check_installed
from rearrange.robot import DEFAULT_ROBOT, find_robot
from rearrange.rules import OURS, check_rules
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.tasks import household_names
from rearrange.threads import processors
from skills.learned import check_metadata, robot_of_policy
from skills.nav_players import check_nav_player
from skills.navigation import find_episode_file, navigation_names
from skills.players import BLIND, OWN, SWAPPED
from skills.provenance import add_homes, check_homes_asked
from skills.registry import shipped_policy
from skills.settings import CHECKPOINTS, check_dataset, check_skill, kind_of, settings_type
from ver import merge_config, read_metadata
from ver.logs import policy_file

UNTRAINED = "untrained"
ORACLE, RANDOM, LEARNED = "oracle", "random", "learned"
BASELINES = (
    RANDOM,
    "frontier",
)  # nothing learned, nothing privileged; the second of ObjectNav only
SANITY_ROWS: dict[str, dict[str, str]] = {  # what of the options is otherwise
    BLIND: {"images": BLIND},
    SWAPPED: {"images": SWAPPED},
    RANDOM: {"policy": RANDOM, "checkpoint": ""},
    ORACLE: {"policy": ORACLE, "checkpoint": ""},
}
SANITY_EPISODES = 200
SEGMENTER = "agent.segmenter="  # what may be changed of an agent


def agent_changes(skill: str, overrides: Sequence[str]) -> dict[str, str]:
    """Changes that overrides make to a navigation task's agent, which is else that of the training.

    Raises:
        UserError: The task has no such agent.
    """
    named = [each.removeprefix(SEGMENTER) for each in overrides if each.startswith(SEGMENTER)]
    if named and (skill not in navigation_names() or not find_task(skill).HAS_CATEGORY):
        raise UserError(f"{SEGMENTER}{named[-1]}: {skill} seeks no category that it could show")
    return {"segmenter": named[-1]} if named else {}


def task_changes(skill: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Settings of a skill's task that overrides name, and no others, with their values, as they are nested.

    Raises:
        UserError: One is not of the task, or unknown, or makes no sense.
    """
    overrides = [each for each in overrides if not each.startswith(SEGMENTER)]
    for override in overrides:
        if not override.startswith("task."):
            raise UserError(
                f"'{override}': an evaluation changes numbers of the task, as task.KEY=VALUE"
            )
    if not overrides:
        return {}
    task = merge_config(settings_type(skill), [], overrides).task
    kind_of(skill).check_numbers(task)
    named: Any = OmegaConf.to_container(OmegaConf.from_dotlist(list(overrides)))
    return _of_those(named["task"], asdict(task))


def _of_those(named: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of what is named, in groups, too: `task.action={delay: 1}` names one number."""
    return {
        key: _of_those(inner, values[key])
        if isinstance(inner, Mapping) and isinstance(values[key], Mapping)
        else values[key]
        for key, inner in named.items()
    }


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line."""
    options = _parser().parse_intermixed_args(arguments)
    check_skill(options.skill)
    options.changes = task_changes(options.skill, options.overrides)
    options.agent = agent_changes(options.skill, options.overrides)
    check_player(options)
    if options.sim == HABITAT:
        check_installed()
    if options.sim == SCAN and options.skill not in navigation_names():
        raise UserError(f"--sim {SCAN} is for {', '.join(navigation_names())}: leave it out")
    if options.sim not in (HABITAT, SCAN) or options.skill not in navigation_names():
        refuse(
            options,
            f"{{option}} is for navigation with --sim {SCAN} or {HABITAT}: say that, too",
            scenes=SCENES,
        )
        options.scenes = ""
    options.lab_dataset = ""
    if options.skill not in navigation_names() and options.dataset not in (None, SAMPLED):
        if options.sim == HABITAT and not Path(options.dataset).is_file():
            raise UserError(f"there is no {options.dataset}: if it is of habitat-lab, {DOWNLOAD}")
        if is_rearrange_dataset(options.dataset):
            if options.sim != HABITAT:
                raise UserError(f"{options.dataset} is of habitat-lab: say --sim habitat, too")
            options.lab_dataset = options.dataset
    check_homes_asked(options)
    options.homes = _homes(options)
    _check_robot(options)
    _check_rules(options)
    check_counts(options, "episodes", "workers", "sanity_episodes")
    if options.sanity:
        reason = "--sanity compares a policy with others: leave {option} out"
        refuse(options, reason, policy=LEARNED, images=OWN)
    else:
        reason = "{option} counts the episodes of --sanity's rows: say --sanity, too"
        refuse(options, reason, sanity_episodes=SANITY_EPISODES)
    return options


def _homes(options: Any) -> str:
    """The collection of homes; "" where they play no part, and a UserError if asked for there."""
    elsewhere = options.lab_dataset
    if options.skill in navigation_names():
        elsewhere = options.sim in (HABITAT, SCAN) or options.dataset not in (None, SAMPLED)
    if not elsewhere:
        return options.homes or DEFAULT_HOMES
    if options.homes:
        raise UserError("--homes chooses our apartments, this is played elsewhere: leave it out")
    return ""


def _check_robot(options: Any) -> None:
    """Raise a UserError where no robot can be chosen, or there is none of that name."""
    if options.policy == LEARNED:
        reason = "a policy acts with the robot of its training: leave {option} out"
        refuse(options, reason, robot="")
    if options.skill in navigation_names():
        refuse(options, "navigation tasks have an agent of their own: leave {option} out", robot="")
    find_robot(options.robot or DEFAULT_ROBOT)


def _check_rules(options: Any) -> None:
    """Raise a UserError where no rules can be chosen, or there are none of that name."""
    if options.policy == LEARNED:
        reason = "a policy is judged by the rules of its training: leave {option} out"
        refuse(options, reason, rules="")
    if options.skill in navigation_names():
        refuse(options, "navigation tasks have rules of their own: leave {option} out", rules="")
    options.rules = check_rules(options.rules or OURS)


def robot_of(options: Any) -> str:
    """Name of the robot that acts: that of the policy, or the one that is asked for."""
    if options.policy != LEARNED:
        return options.robot or DEFAULT_ROBOT
    path = checkpoint_of(options)
    return robot_of_policy(path, read_metadata(path))


def _parser() -> OneLineParser:
    parser = OneLineParser(prog="skills.eval", description=__doc__)
    parser.add_argument("skill", help="what to evaluate")
    parser.add_argument(
        "overrides", nargs="*", default=[], metavar="task.KEY=VALUE",
        help="judge by other numbers of the task",
    )  # fmt: skip
    parser.add_argument(
        "--policy", choices=(LEARNED, ORACLE, *BASELINES), default=LEARNED, help="who plays"
    )
    parser.add_argument(
        "--checkpoint", default="", help=f"policy file; '{UNTRAINED}': random weights"
    )
    parser.add_argument("--episodes", type=int, default=200, metavar="N", help="how many (200)")
    add_homes(parser)
    parser.set_defaults(homes=None)
    parser.add_argument("--robot", default="", metavar="NAME", help="who acts without a policy")
    parser.add_argument(
        "--rules", default="", metavar="NAME", help="by which it is judged: ours (default), hab"
    )
    parser.add_argument("--seed", type=int, default=0, help="of episodes and actions (0)")
    parser.add_argument(
        "--dataset",
        help="episode file, ours or habitat-lab's, or 'sampled'; default: data/episodes/ where it holds "
        "enough",
    )
    parser.add_argument(
        "--sim",
        choices=("own", HABITAT, SCAN),
        default="own",
        help="habitat: on habitat-sim; navigation tasks then in the scenes of --dataset's episodes; "
        "scan: navigation tasks in scenes of files, without habitat-sim",
    )
    parser.add_argument(
        "--scenes", default=SCENES, help="folder of the scenes (.glb), or one of them"
    )
    parser.add_argument(
        "--actions",
        choices=("sampled", "mean"),
        default="sampled",
        help="sampled, as in training (default), or the mean: films and published figures are made "
        "with --actions mean, but for ObjectNav's",
    )
    parser.add_argument(
        "--images",
        choices=(OWN, SWAPPED, BLIND),
        default=OWN,
        help="does it look at all? swapped: the policy sees another world's camera; blind: the "
        "mean of first images, always",
    )
    parser.add_argument(
        "--sanity",
        action="store_true",
        help=f"also play {', '.join(SANITY_ROWS)} on the same episodes",
    )
    parser.add_argument("--sanity-episodes", type=int, default=SANITY_EPISODES, metavar="N")
    parser.add_argument("--workers", type=int, default=processors())
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    return parser


def check_player(options: Any) -> None:
    """Raise a UserError where who plays does not go with the other options."""
    skill, policy = options.skill, options.policy
    if policy == LEARNED:
        return
    reason = f"--policy {policy} takes no {{option}}: leave one of them out"
    refuse(options, reason, checkpoint="", images=OWN, actions="sampled")
    if policy == ORACLE and skill in household_names():
        raise UserError(
            f"{skill} has no oracle of its own: python -m planner.eval {skill} "
            "--skills oracle follows a plan with those of the skills"
        )
    if skill in navigation_names():
        if options.changes or options.agent:
            raise UserError(f"--policy {policy} takes no {options.overrides[0]}: leave it out")
        check_nav_player(skill, policy)
    elif policy == "frontier":
        raise UserError(f"--policy {policy} is for navigation tasks, not {skill}")
    if options.sim in (HABITAT, SCAN) and not (policy == ORACLE and skill in navigation_names()):
        raise UserError(f"--sim {options.sim}: --policy {policy} plays elsewhere: leave one out")


def sanity_options(options: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Options of the sanity rows, by name; and why others of them are left out."""
    rows: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name, changes in SANITY_ROWS.items():
        row = argparse.Namespace(**{**vars(options), **changes})
        row.episodes = min(options.episodes, options.sanity_episodes)
        try:
            check_player(row)
            rows[name] = row
        except UserError as error:
            left_out[name] = str(error)
    return rows, left_out


def checkpoint_of(options: Any) -> Path:
    """The checkpoint that is asked for, the shipped one by default; it must be of the skill.

    Raises:
        UserError: It holds no policy, or one for another skill; or there is none.
    """
    given = options.checkpoint not in ("", UNTRAINED)
    path = policy_file(options.checkpoint) if given else shipped_policy(options.skill, CHECKPOINTS)
    if not given and not path.is_file():
        raise UserError(
            f"no policy of {options.skill} is shipped: train one (scripts/train_skill.sh {options.skill}) and "
            "give it as --checkpoint"
        )
    check_metadata(path, read_metadata(path), options.skill)
    return path


def find_file(options: Any) -> tuple[Path | None, str]:
    """The file of episodes, None where they are sampled, and a line that says which."""
    if options.skill in navigation_names():
        given = options.dataset, options.skill, options.episodes, options.split, options.scenes
        return find_episode_file(*given, options.sim)
    if options.lab_dataset:
        check_dataset(options.lab_dataset, HABITAT, options.skill)
        return None, f"episodes: drawn from {options.lab_dataset}"
    place = options.split, options.episodes, options.homes, options.robot
    episodes, line = find_dataset(options.dataset, options.skill, *place)
    return None if episodes is None else episodes.path, line
