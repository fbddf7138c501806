# mujoco-core's extension module carries no types that pyright can read: everything is Any.
from typing import Any

def __getattr__(name: str) -> Any: ...
