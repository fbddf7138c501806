"""Keys for numba's cache, which notices changes in the file of the outermost function only."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def source_hash(*modules: ModuleType) -> str:
    """Hash of the modules' sources."""
    sources = (inspect.getsource(module).encode() for module in modules)
    return hashlib.sha256(b"".join(sources)).hexdigest()


def cached_njit(*modules: ModuleType, **options: Any) -> Callable[[Function], Function]:
    """`numba.njit(cache=True)` for a kernel that uses kernels or constants of other modules.

    Args:
        modules: All of these, and what they in turn use: if the source of one changes, the kernel
            is compiled anew. Kernels that call this one in its own file need the same modules.
        options: What else numba.njit takes.
    """
    version = source_hash(*modules)[:12]

    def compiled(function: Function) -> Function:
        function.__qualname__ += f".{version}"  # numba names its cache files after this
        return cast(Function, numba.njit(cache=True, **options)(function))

    return compiled
