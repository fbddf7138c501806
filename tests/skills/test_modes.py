import pytest

from rearrange.errors import UserError
from skills import load_skills


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("best", "unknown skills 'best': choose one of oracle, learned, mixed"),
        ("learned,pick=best", "unknown skills 'best'"),
        ("learned,pick", "unknown skills ''"),
        ("learned,pick=oracle,pick=spa", "says twice who plays pick: leave one of them out"),
        ("learned,throw=oracle", "unknown skill 'throw' in .* choose one of navigate, pick"),
    ],
)
def test_unknown_modes_and_skills_are_answered_with_those_there_are(words, message):
    with pytest.raises(UserError, match=message):
        load_skills(words)
