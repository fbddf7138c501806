"""One world of habitat-sim with physics, in a process of its own: loaded by `engine_server.py`.

It imports nothing of ours, which keeps its process small, and knows Habitat's frames only: positions,
and quaternions xyzw, in a world whose y axis is up. Its modules import each other relatively: in that
process they are no part of `rearrange`.
"""

from .stepping import Engine

__all__ = ["Engine"]
