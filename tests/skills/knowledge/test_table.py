"""Who reads the simulator's state: nobody but the door and those who are exempt by name."""

import ast
import re
from pathlib import Path

import pytest

from skills import knowledge
from skills.knowledge.table import EXEMPT, FACTS, READERS, page
from tests.helpers import ROOT

# What leads from a world to its state, or to what was made of it with everything known.
ATTRIBUTES = {"state", "simulator", "worlds", "_worlds", "memory", "evaluate", "outcome"}
NAMES = {"SimState", "seen_depth"}  # to be imported
STRINGS = ATTRIBUTES | {"metrics"}  # of getattr, or what a step has told
OUTPUT = "output.state"  # of a network: hidden state
SOURCES = sorted(
    path for package in ("planner", "skills") for path in (ROOT / package).rglob("*.py")
)


def violations(source: str) -> list[str]:
    """What a module reads of the simulator's state: "line: code" each."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node) != OUTPUT:
            of_episode = node.attr == "objects" and re.search(
                r"(^|[._])episode$", ast.unparse(node.value)
            )
            wrong = node.attr in ATTRIBUTES or of_episode
        elif isinstance(node, ast.ImportFrom):
            wrong = any(alias.name in NAMES for alias in node.names)
        elif isinstance(node, ast.Constant):
            wrong = node.value in STRINGS if isinstance(node.value, str) else False
        else:
            continue
        if wrong:
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_in(path: Path, place: str) -> bool:
    return name(path) == place or name(path).startswith(f"{place}/")


def is_exempt(path: Path) -> bool:
    return any(is_in(path, place) for place in EXEMPT)


@pytest.mark.parametrize("path", [p for p in SOURCES if not is_exempt(p)], ids=name)
def test_nothing_is_read_past_the_door(path):
    assert violations(path.read_text(encoding="utf-8")) == [], (
        "ask skills.knowledge for it, or say in skills/knowledge/table.py why this may be read"
    )


@pytest.mark.parametrize("place", EXEMPT)
def test_nobody_is_exempt_without_need(place):
    inside = [path for path in SOURCES if is_in(path, place)]
    assert any(violations(path.read_text(encoding="utf-8")) for path in inside)


PLANTS = {
    "self._world.state.handle_position[0, 2]": "planner/executive.py",
    "world.simulator.data[0].xpos": "planner/beliefs.py",
    "self.task.memory['slot']": "skills/learned.py",
    "self.task.evaluate(world.state, self.full).terminated[0]": "skills/learned.py",
    "world.episode.objects[3]": "skills/spa/robot.py",
    "self._episode.objects": "planner/replanning.py",
    "getattr(self._world, 'state')": "skills/spa/observed.py",
    "world.step_physical(action)[3]['metrics']['success']": "planner/monolithic.py",
    "world._worlds.step(action)": "planner/executive.py",
}


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_read_is_found(plant):
    source = (ROOT / PLANTS[plant]).read_text(encoding="utf-8")
    assert violations(source) == []
    header = "    def planted(self, world, action):\n"
    planted = f"{source}\n\nclass Planted:\n{header}        return {plant}\n"
    found = violations(planted)
    assert found
    line = len(planted.splitlines())
    assert all(each.startswith(f"{line}: ") for each in found)


@pytest.mark.parametrize(
    "planted",
    [
        "from rearrange.sim.base import SimState",
        "from rearrange.worlds import RearrangeEnv, seen_depth",
    ],
)
def test_a_planted_import_is_found(planted):
    assert violations(planted) == [f"1: {planted}"]


def doors_used(source: str) -> set[str]:
    """Which facts a module asks of a body, senses or knowledge."""
    doors = {fact.door.partition(".")[2] for fact in FACTS}
    asked = r"(^|[._])(body|senses|knowledge)$|\bBody\(world\)$"
    return {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and node.attr in doors
        and re.search(asked, ast.unparse(node.value))
    }


@pytest.mark.parametrize("places", sorted(set(READERS.values())), ids="+".join)
def test_the_table_says_who_reads_what(places):
    """Exactly: what the readers' files ask for is what the table says of those who read there."""
    inside = [path for path in SOURCES if any(is_in(path, place) for place in places)]
    used = set().union(*(doors_used(path.read_text(encoding="utf-8")) for path in inside))
    there = {r for r, where in READERS.items() if any(place in places for place in where)}
    told = {f.door.partition(".")[2] for f in FACTS if there & set(f.readers)}
    if places == READERS["policy"]:  # the ends of skills read in another file, too
        assert used <= told
    else:
        assert used == told


def test_every_door_is_in_the_table():
    """What the package gives of the world, no more and no less."""
    given = {
        f"{cls}.{each}"
        for cls in ("Body", "PolicySenses", "Senses")
        for each in vars(getattr(knowledge, cls))
        if not each.startswith("_") and each != "begin"
    }
    assert {fact.door for fact in FACTS} == given | {"Knowledge.told"}


def test_the_executive_does_not_listen_to_the_judge():
    """Its findings go into the record, and to who looks on."""
    for file in ("planner/executive.py", "planner/monolithic.py"):
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and is_judge(n.value)]
        discarded = [
            n.value.func
            for n in ast.walk(tree)
            if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)
        ]
        heard = {n.attr for n in calls if n not in discarded}
        allowed = {
            "planner/executive.py": {"missed", "execution"},
            # It names the interaction that is shown, and judges the end of the episode.
            "planner/monolithic.py": {"reached", "succeeds", "execution"},
        }
        assert heard == allowed[file]


def is_judge(node: ast.AST) -> bool:
    return bool(re.search(r"(^|[._])judge$", ast.unparse(node)))


def test_the_page_is_up_to_date():
    written = (ROOT / "docs" / "knowledge.md").read_text(encoding="utf-8")
    assert written == page(), "run `python -m skills.knowledge > docs/knowledge.md`"
