"""Collection: environment workers, inference workers, shared memory and the VER collector.

Nothing is imported here: an environment worker must not load torch by importing its own package.
"""

__all__: list[str] = []
