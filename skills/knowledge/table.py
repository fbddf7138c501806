"""`python -m skills.knowledge > docs/knowledge.md`: who may read what, and what that assumes."""

from __future__ import annotations

from dataclasses import dataclass

from skills.knowledge.knowledge import DEFAULT_LEVEL, LEVELS

READERS: dict[str, tuple[str, ...]] = {  # reader -> where it reads, of files or folders
    "policy": ("skills/observing.py",),
    "skill end": ("skills/observing.py", "skills/endings.py", "skills/library.py"),
    "executive": ("planner/executive.py",),
    "replanner": ("planner/replanning.py", "planner/beliefs.py"),
    "sense-plan-act": ("skills/spa",),
}
EXEMPT: dict[str, str] = {  # file or folder -> why it may read the simulator's state
    "skills/knowledge": "the door itself",
    "skills/oracle": "oracles: privileged by definition, and named so in every row",
    "skills/habitat_lab.py": "an environment of another simulator: it tells what an episode came to",
    "skills/players.py": "plays oracles",
    "skills/nav_players.py": "plays oracles of navigation tasks",
    "skills/start_kinds.py": "says of a start whether it needs a detour, for statistics",
    "skills/demonstrations.py": "plays oracles, for policies that imitate them",
    "skills/emergent_navigation.py": "draws starts in which the robot touches nothing; then a policy plays",
    "skills/initiation/starts.py": "draws starts to learn from; what is learned sees what the policy sees",
    "planner/interactions.py": "the judge's rules: what has come about, for the record only",
    "planner/judge.py": "the judge: its findings leave it in the record alone",
    "planner/hand_offs.py": "records states as starts for training",
    "planner/blind_drives.py": "records states as starts for training",
    "planner/rollouts.py": "records what cameras see and what was done, for data sets",
    "planner/nav_film.py": "draws",
    "planner/video.py": "draws",
    "skills/sight.py": "draws",
}


@dataclass(frozen=True)
class Fact:
    """Something that may be read.

    Attributes:
        name: What it is.
        door: What gives it: "CLASS.attribute" of this package.
        readers: Of READERS.
        basis: How a robot has it, and what is assumed; at the levels `hab` and `robot`.
        hab: What else it is at that level; empty: the same.
        privileged: Likewise.
    """

    name: str
    door: str
    readers: tuple[str, ...]
    basis: str
    hab: str = ""
    privileged: str = ""


OWN = ("skill end", "executive", "sense-plan-act")
FACTS: tuple[Fact, ...] = (
    Fact(
        "observations of its own task",
        "PolicySenses.observe",
        ("policy",),
        "HAB's sensors, computed in `rearrange.tasks` and listed in docs/tasks.md. These are "
        "depth image, joints, hand, cup, odometry, and what it was told in its own frame. Assumed: no noise. "
        "With `--redrive` the executive asks a skill for its chance to succeed, which it tells by these alone",
    ),
    Fact(
        "masks of its actions",
        "PolicySenses.mask",
        ("policy",),
        "by the cup, and how far hand and base are from what they were told; nothing else",
    ),
    Fact(
        "base pose",
        "Body.base_pose",
        (*OWN, "replanner"),
        "odometry. Assumed: no drift, start pose known",
    ),
    Fact(
        "arm joints",
        "Body.joints",
        ("skill end", "sense-plan-act"),
        "encoders. Assumed: no noise",
    ),
    Fact("hand", "Body.hand", ("replanner",), "kinematics of the joints, and odometry"),
    Fact("hand to its resting place", "Body.to_rest", ("skill end",), "kinematics of the joints"),
    Fact(
        "something is held",
        "Body.is_holding",
        OWN,
        "the cup's pressure; not what it is. A handle counts. An opening skill that has taken something "
        "is taken to hold the handle",
    ),
    Fact("steps of the episode", "Body.steps", ("sense-plan-act",), "its clock"),
    Fact(
        "that another episode runs",
        "Body.episode",
        ("sense-plan-act",),
        "it is put into another home. Nothing of the episode is read",
    ),
    Fact(
        "depth image",
        "Body.depth",
        ("sense-plan-act",),
        "the head camera. Assumed: no noise, no holes",
    ),
    Fact(
        "where an object in an opened drawer is told to be",
        "Knowledge.told",
        ("executive", "replanner"),
        "its start, moved as the drawer is while the robot stands near enough to see that. From farther away "
        "moved as far in the plane as the hand travelled while it held the handle, and after a closing skill "
        "has ended by itself the start again: a push is not felt. All skills are told it. "
        "Not known: how an object slides in its drawer",
        hab="its start, as HAB's sensors go on telling",
        privileged="its start, moved as the handle truly was",
    ),
    Fact(
        "what kind of thing is held",
        "Senses.in_hand",
        ("replanner",),
        "the head camera at the hand. Assumed: kinds are recognised, a handle is told from an object",
        privileged="which object, of two of one kind, too",
    ),
    Fact(
        "where the object in the hand is",
        "Senses.at_cup",
        ("replanner",),
        "the head camera at the hand. Assumed: the centre of what is seen is told exactly",
    ),
    Fact(
        "where an object is",
        "Senses.find",
        ("replanner",),
        "the nearest of its kind of which the camera sees two points. Assumed: kinds are recognised, and "
        "the centre of what is seen is told exactly",
        privileged="wherever it is",
    ),
    Fact(
        "whether a place is in view",
        "Senses.shows",
        ("replanner",),
        "the depth image, with nothing before the place nor most of a ring round it",
        privileged="always",
    ),
    Fact(
        "how far fridge or drawer is open",
        "Senses.opening",
        ("replanner",),
        "seen from within 2 m of the handle. Assumed: whatever stands between, and to the number",
        privileged="from anywhere",
    ),
)

INTRODUCTION = f"""\
# What the robot may know

Made by `python -m skills.knowledge` from `skills/knowledge/table.py`: do not edit. What decides reads the world
through `skills.knowledge` alone; a test walks the sources and fails where something else is read.
`python -m planner.eval --knowledge LEVEL` chooses the level, and every row names it; `{DEFAULT_LEVEL}` is the
default.
"""
TOLD = """\
All are told the task when the episode begins. That is where every object that is asked for stands and
where it belongs (centres, world frame), and on what. It is also what is held, and how far fridge and
drawers are open. Oracles read all of the simulator's state at every level. A force beyond the limit ends
an episode: the judge's rule, no decision.
"""


def page() -> str:
    """The whole page in Markdown."""
    lines = [INTRODUCTION, "## Levels", ""]
    lines += [f"- `{level}`: {text}." for level, text in LEVELS.items()]
    lines += ["", "## Who reads what", "", TOLD]
    lines += [f"| | {' | '.join(READERS)} |", "|---" * (len(READERS) + 1) + "|"]
    for fact in FACTS:
        marks = " | ".join("x" if reader in fact.readers else "" for reader in READERS)
        lines.append(f"| {fact.name} | {marks} |")
    lines += ["", "## How it is known, and what is assumed", ""]
    lines += ["| | given by | basis |", "|---|---|---|"]
    lines += [f"| {fact.name} | `{fact.door}` | {fact.basis} |" for fact in FACTS]
    lines += ["", "## What differs between the levels", ""]
    lines += ["| | `hab` | `robot` | `privileged` |", "|---|---|---|---|"]
    lines += [
        f"| {fact.name} | {fact.hab or 'as `robot`'} | see above | {fact.privileged} |"
        for fact in FACTS
        if fact.hab or fact.privileged
    ]
    lines += ["", "## Who may read more", ""]
    lines += [f"- `{place}`: {why}." for place, why in EXEMPT.items()]
    return "\n".join(lines) + "\n"
