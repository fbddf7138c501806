"""Building blocks that processes share: arrays, locks, doorbells and outcome codes.

Nothing is imported here, and nothing here imports torch: environment workers load it.
"""

__all__: list[str] = []
