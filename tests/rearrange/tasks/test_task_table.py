import dataclasses
import itertools
from pathlib import Path

import pytest

from rearrange.tasks import TASKS, table

PAGE = Path(__file__).resolve().parents[3] / "docs" / "hab.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == table.page(), (
        "run `python -m rearrange.tasks.table > docs/hab.md`"
    )


def test_every_task_is_on_the_page():
    assert sorted(itertools.chain(*table.GROUPS.values())) == sorted(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_every_number_names_its_reference(name):
    config = TASKS[name][1]()
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        notes = table.notes_of(type(value) if dataclasses.is_dataclass(value) else type(config))
        names = notes if dataclasses.is_dataclass(value) else [field.name]
        for told in names:
            assert notes[told].reference is not None, told


@pytest.mark.parametrize("name", TASKS)
def test_every_task_says_what_it_wants(name):
    sections = table.sections_of(TASKS[name][0])
    assert all(sections[section] for section in ("Observation", "Action", "Start", "Success"))
    size = TASKS[name][0].action_size
    assert sections["Action"].startswith(f"[{size}]")


@dataclasses.dataclass
class Inner:
    """Numbers of a group."""

    limit: float = 2.0  # [2] of a sum [N]
    floor: float = 1.0  # [1] least [N]


@dataclasses.dataclass
class Outer:
    """Numbers of a task."""

    # [limit: off] because nothing
    # was limited
    inner: Inner = dataclasses.field(default_factory=Inner)
    reach: float = (
        0.5  # [0.25] how far it reaches
        # if nothing stands in its way [m]
    )
    moves: bool = True  # [True] whether it moves
    share: float = 0.1  # [not stated] of something


@dataclasses.dataclass
class Narrow(Outer):
    """Numbers of another."""

    reach: float = 0.25  # [0.25] less far [m]


def test_comments_are_read_wherever_they_stand():
    notes = table.notes_of(Outer)
    assert notes["inner"] == table.Note("limit: off", "because nothing was limited")
    assert notes["reach"].reference == "0.25"
    assert notes["reach"].meaning.startswith("how far")
    assert notes["reach"].meaning.endswith("[m]")


def test_subclasses_say_only_what_is_new():
    notes = table.notes_of(Narrow)
    assert notes["reach"] == table.Note("0.25", "less far [m]")
    assert notes["moves"] == table.Note("True", "whether it moves")


def test_what_differs_is_marked():
    rows = table._rows(Outer())
    assert rows["inner.limit"] == ("**2** [off]", "of a sum [N]")
    assert rows["inner.floor"] == ("1 [1]", "least [N]")
    assert rows["reach"][0] == "**0.5** [0.25]"
    assert rows["moves"][0] == "True [True]"
    assert rows["share"][0] == "0.1 [not stated]"


@pytest.mark.parametrize(
    ("value", "reference", "other"),
    [
        (10_000.0, "10 000", False),
        (1e-4, "1e-4", False),
        (1e-4, "0", True),
        (3, "3.0", False),
        (False, "True", True),
        (0.7854, "0.7854", False),
        (1.0, "off", True),
        (1.0, None, False),
    ],
)
def test_numbers_are_compared_as_numbers(value, reference, other):
    assert table.differs(value, reference) is other
