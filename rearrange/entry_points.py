"""Entry points of other packages, loaded and checked."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import TypeVar

from rearrange.errors import UserError

Named = TypeVar("Named")


def load(point: EntryPoint, what: str, kind: type[Named]) -> Named:
    """What an entry point names.

    Args:
        point: Of another package.
        what: For example "skill", for the complaint.
        kind: Of what it must be.

    Raises:
        UserError: It cannot be loaded, or is of another kind.
    """
    try:
        found = point.load()
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"{what} '{point.name}' cannot be loaded from {point.value}: {error}: mend or uninstall "
            "the package that has registered it"
        ) from error
    if not isinstance(found, kind):
        raise UserError(
            f"{what} '{point.name}': {point.value} is no {kind.__name__}, but {type(found).__name__}"
        )
    return found
