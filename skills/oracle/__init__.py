"""Oracles: the skills done with privileged state, for tests, demonstrations and upper bounds."""

from skills.oracle.navigate import NavigateOracle
from skills.oracle.oracle import Oracle, OracleConfig
from skills.oracle.pick import PickOracle
from skills.oracle.place import PlaceOracle

__all__ = ["NavigateOracle", "Oracle", "OracleConfig", "PickOracle", "PlaceOracle"]
