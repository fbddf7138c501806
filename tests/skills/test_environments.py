from dataclasses import dataclass, field

import pytest

from skills.environments import Environments, with_values
from skills.settings import kind_of


@dataclass
class Body:
    size: float = 1.0


@dataclass
class Settings:
    skill: str = "dance"
    body: Body = field(default_factory=Body)
    names: list[str] = field(default_factory=lambda: ["/home/me/private.json"])
    split: str = "train"


@dataclass(frozen=True)
class Dances(Environments):
    body: dict
    names: tuple
    split: str


def test_fields_come_from_the_settings_of_their_names():
    made = Dances.of_settings(Settings(), split="val")
    assert made == Dances("dance", {"size": 1.0}, ("/home/me/private.json",), "val")


def test_a_checkpoint_keeps_no_private_folder():
    kept = Dances.of_settings(Settings()).metadata()
    assert kept == {
        "skill": "dance",
        "body": {"size": 1.0},
        "names": ["private.json"],
        "split": "train",
    }


def test_values_take_the_place_of_defaults():
    assert with_values(Body(), {"size": 2.5}) == Body(2.5)


@pytest.mark.parametrize(
    ("skill", "configs"),
    [
        ("pick", ("skill", "pick")),
        ("tidy_house", ("skill", "household")),
        ("pointnav", ("navigation", "pointnav")),
        ("habitat-lab:RearrangePickTask-v0", ("habitat_lab",)),
    ],
)
def test_each_kind_says_what_it_is_trained_with(skill, configs):
    assert kind_of(skill).config_names(skill) == configs
