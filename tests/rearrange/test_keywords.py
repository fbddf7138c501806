import re
from dataclasses import dataclass, field

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.keywords import changed


@dataclass
class Force:
    penalty: float = 0.1
    limit: int = 5


@dataclass
class Task:
    steps: int = 9
    slack: float = 1.0
    slide: bool = True
    name: str = "pick"
    seed: int | None = None
    paths: list[str] = field(default_factory=list)
    force: Force = field(default_factory=Force)


@dataclass(frozen=True)
class Camera:
    size: int = 64


def make(**keywords):
    return changed("Env-v0", [Task(), Camera()], keywords)


def test_keywords_change_what_has_them_and_nothing_else():
    task, camera = make(size=32, slack=2, slide=np.False_, seed=3, paths=("a", "b"))
    assert (task, camera) == (Task(slack=2.0, slide=False, seed=3, paths=["a", "b"]), Camera(32))
    assert make() == [Task(), Camera()]
    assert make(seed=None)[0].seed is None


def test_numbers_become_plain_ones():
    task, camera = make(slack=np.float32(0.5), steps=np.int64(3), size=np.uint8(7))
    assert [type(each) for each in (task.slack, task.steps, camera.size)] == [float, int, int]


@pytest.mark.parametrize(
    "keywords", [{"force": {"penalty": 2}}, {"force.penalty": 2.0}, {"force": Force(penalty=2.0)}]
)
def test_a_group_is_changed_in_part(keywords):
    assert make(**keywords)[0].force == Force(2.0, 5)


def test_later_keywords_go_on_from_earlier_ones():
    task = make(**{"force": {"limit": 1}, "force.penalty": 3.0})[0]
    assert task.force == Force(3.0, 1)


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"step": 3}, "unknown setting 'step' of Env-v0: did you mean steps?"),
        ({"task.steps": 3}, "unknown setting 'task.steps' of Env-v0: did you mean steps?"),
        ({"force.penality": 3}, "unknown setting 'force.penality' of Env-v0: did you mean force.penalty?"),
        ({"force": {"limits": 3}}, "unknown setting 'force.limits' of Env-v0: did you mean force.limit?"),
        ({"slide.x": 3}, "unknown setting 'slide.x' of Env-v0: did you mean slide?"),
        (
            {"quux": 3},
            "unknown setting 'quux' of Env-v0; there are force, name, paths, seed, size, slack, slide, steps",
        ),
        ({"slide": 2}, "slide must be True or False, found 2"),
        ({"steps": 2.5}, "steps must be a whole number, found 2.5"),
        ({"steps": True}, "steps must be a whole number, found True"),
        ({"size": 2**70}, f"size must be a whole number, below 2**63, found {2**70}"),
        ({"slack": "1"}, "slack must be a number, found '1'"),
        ({"slack": None}, "slack must be a number, found None"),
        ({"slack": False}, "slack must be a number, found False"),
        ({"name": 5}, "name must be text, found 5"),
        ({"seed": 1.0}, "seed must be a whole number or None, found 1.0"),
        ({"paths": "a"}, "paths must be a list of texts, found 'a'"),
        ({"paths": [1]}, "paths must be a list of texts, found [1]"),
        ({"force": 5}, "force must be a mapping with any of penalty, limit, found 5"),
        ({"force.limit": "x"}, "force.limit must be a whole number, found 'x'"),
        ({"force": Force(penalty="x")}, "force.penalty must be a number, found 'x'"),  # pyright: ignore
        ({"steps": np.arange(12).reshape(3, 4)}, "steps must be a whole number, found array([[ 0, 1, 2, 3], "),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_one_line(keywords, told):
    with pytest.raises(UserError, match=f"^{re.escape(told)}") as refused:
        make(**keywords)
    assert "\n" not in str(refused.value)
