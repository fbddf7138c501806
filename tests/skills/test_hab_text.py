import pytest

from rearrange.settings import Setting
from skills.hab_table import Row, cell, same, shown, told

LIMIT = Setting("ends beyond; below 0: off [N]", -1.0, hides="a blow")


def test_a_row_shows_what_differs():
    assert cell(Row(LIMIT, 2e4, (5e3, 2e4), -1.0)) == "**20 000, trained 5000, 20 000** [off]"
    assert cell(Row(LIMIT, 1.0, (1.0,), 1.0)) == "1 [1]"
    assert cell(Row(LIMIT, 1.0, (1.0,), float("inf"))) == "**1** [inf]"
    assert told(Row(LIMIT, 1.0, (1.0,), -1.0)).endswith("**Ours hides or makes rarer:** a blow")
    kept = Row(Setting("of a drawer [m]", 0.5, kept="it ends there"), 0.45, (0.45,), 0.45)
    assert cell(kept) == "**0.45** [0.45]"
    assert told(kept) == "of a drawer [m] (HAB: 0.5; it ends there)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "True"), (3, "3"), (0.7853981, "0.7854"), (1e-4, "0.0001"), (float("inf"), "inf")],
)
def test_values_as_text(value, text):
    assert shown(value, LIMIT) == text


def test_values_are_compared_to_four_places():
    assert same(0.7854, 0.78539816)
    assert not same(1e-4, 2e-4)
    assert same(float("inf"), float("inf"))
    assert not same(True, False)
    assert not same(float("inf"), 2.0)
