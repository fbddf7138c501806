"""How many examples hypothesis tries in a dear property test."""

from hypothesis import settings

SEARCHED = 100  # what a profile tries that says nothing: the searching one


def part_of(examples: int) -> int:
    """So many where new ones are searched for; in the fast suite, which tries the same always, a quarter."""
    return max(1, examples * settings.default.max_examples // SEARCHED)
