"""Keys for numba's cache, which notices changes in the file of the outermost function only."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def source_hash(*modules: ModuleType) -> str:
    """Hash of the modules' sources: close a kernel over it to compile it anew when one changes."""
    sources = (inspect.getsource(module).encode() for module in modules)
    return hashlib.sha256(b"".join(sources)).hexdigest()


def cached_njit(*modules: ModuleType) -> Callable[[Function], Function]:
    """`numba.njit(cache=True)` for a kernel that uses kernels or constants of other modules.

    Args:
        modules: All of these, and what they in turn use: if the source of one changes, the kernel
            is compiled anew. Kernels that call this one in its own file need the same modules.
    """
    version = source_hash(*modules)[:12]

    def compiled(function: Function) -> Function:
        # Numba names its cache files after this; a closure would do too, but needs a factory each.
        function.__qualname__ += f".{version}"
        return cast(Function, numba.njit(cache=True)(function))

    return compiled
