"""Keys for numba's cache, which notices changes in the file of the outermost function only."""

from __future__ import annotations

import hashlib
import inspect
from types import ModuleType


def source_hash(*modules: ModuleType) -> str:
    """Hash of the modules' sources: close a kernel over it to compile it anew when one changes."""
    sources = (inspect.getsource(module).encode() for module in modules)
    return hashlib.sha256(b"".join(sources)).hexdigest()
