"""The conformance test of the Simulator contract."""

from rearrange.testing.conformance import check_simulator

__all__ = ["check_simulator"]
