from dataclasses import dataclass

import pytest

from rearrange.choices import Many, One, OneRobot, choose
from rearrange.errors import UserError


@dataclass
class Task:
    steps: int = 9


@dataclass
class Camera:
    size: int = 128


def make(choices, **keywords):
    def parts_of(own):
        return (Task(), Camera()) if own.preset == "large" else (Task(3), Camera(64))

    return choose("Env-v0", choices, parts_of, keywords)


def test_what_is_asked_for_comes_last():
    assert make(One()) == (Task(3), Camera(64), One())
    assert make(One(), size=32, seed=5) == (Task(3), Camera(32), One(seed=5))


def test_choices_say_where_all_others_begin():
    assert make(Many(), preset="large", threads=2)[:2] == (Task(9), Camera(128))


def test_groups_of_choices_are_changed_in_part():
    starts = make(OneRobot(), **{"starts.share": 0.25, "split": "val"})[2].starts
    assert (starts.share, starts.paths) == (0.25, [])


@pytest.mark.parametrize(
    ("choices", "keywords", "told"),
    [
        (One(), {"seed": -1}, "seed must be from 0 to 9.22337e\\+18, found -1"),
        (Many(), {"threads": -1}, "threads must be from 0 to 1024, found -1"),
        (Many(), {"num_envs": 0}, "num_envs must be from 1 to 65536, found 0"),
        (One(), {"threads": 1}, "unknown setting 'threads' of Env-v0"),
        (Many(), {"seed": 1}, "unknown setting 'seed' of Env-v0"),
    ],
)
def test_numbers_of_choices_have_ranges(choices, keywords, told):
    with pytest.raises(UserError, match=f"^{told}"):
        make(choices, **keywords)
