"""The one error that command lines turn into a one-line message."""

from collections.abc import Collection


class UserError(ValueError):
    """Bad input from a person: the message is one line and names the mend."""


def check_choice(what: str, name: str, names: Collection[str]) -> str:
    """Return the name of something or raise a UserError that lists those that exist."""
    if name not in names:
        raise UserError(f"unknown {what} '{name}': choose one of {', '.join(names)}")
    return name
