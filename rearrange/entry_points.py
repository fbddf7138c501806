"""Entry points of other packages, loaded and checked."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

from rearrange.errors import UserError


def load(point: EntryPoint, what: str) -> Any:
    """What an entry point names.

    Args:
        point: Of another package.
        what: For example "skill", for the complaint.

    Raises:
        UserError: It cannot be loaded.
    """
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"{what} '{point.name}' cannot be loaded from {point.value}: {error}: mend or uninstall "
            "the package that has registered it"
        ) from error
