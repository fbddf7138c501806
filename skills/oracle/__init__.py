"""Oracles: the skills done with privileged state, for tests, demonstrations and upper bounds."""

from skills.oracle.navigate import NavigateOracle
from skills.oracle.navigate_handle import NavigateToHandle
from skills.oracle.open_close import CloseOracle, OpenOracle
from skills.oracle.oracle import Oracle
from skills.oracle.pick import PickOracle
from skills.oracle.place import PlaceOracle

__all__ = [
    "CloseOracle",
    "NavigateOracle",
    "NavigateToHandle",
    "OpenOracle",
    "Oracle",
    "PickOracle",
    "PlaceOracle",
]
