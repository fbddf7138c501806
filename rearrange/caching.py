"""Numba's cache across files: numba itself notices changes in the file of the outermost function only."""

from __future__ import annotations

import enum
import fcntl
import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast, overload

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., object])
LOCK_FILE = "numba.lock"  # beside the compiled kernels
_PLAIN = (type(None), bool, int, float, complex, str, bytes, enum.Enum, np.generic, np.dtype)
_FINGERPRINTS: dict[FunctionType, str] = {}
_INDICES: list[Path] = []  # files that kernels have once something has called them
FEW = 0.1  # share of kernels: looking at a home, say, calls some of them
_DTYPES: dict[np.dtype, np.dtype] = {}


@overload
def cached_njit(signature: Function, /) -> Function: ...
@overload
def cached_njit(signature: str | None = None, **options: Any) -> Callable[[Function], Function]: ...
def cached_njit(signature: Any = None, **options: Any) -> Any:
    """`numba.njit(cache=True)` that compiles anew when anything changes that a kernel is made of.

    That is the kernel, its options, and the kernels and constants that it uses, in whatever module,
    and what those use in turn. All must be defined before it: it is looked at where it is decorated.

    Args:
        signature: What numba.njit takes as such; or the function, for `@cached_njit` without brackets.
        options: What else numba.njit takes.
    """
    if isinstance(signature, FunctionType):
        return cached_njit()(signature)

    def compiled(function: Function) -> Function:
        kernel = cast(FunctionType, function)
        version = fingerprint(kernel, _FINGERPRINTS), *_parts(options, (), {}, set())
        # Numba names its cache files after this
        kernel.__qualname__ += f".{_digest(version)[:12]}"
        dispatcher: Any = numba.njit(cache=True, **options)(kernel)
        _share(dispatcher._cache._cache_file)
        # The name tells all; numba's own key of a kernel in a closure differs from process to process
        dispatcher._cache._index_key = lambda signature, codegen: (signature, codegen.magic_tuple())
        if signature is None:
            _INDICES.append(Path(dispatcher._cache._cache_file._index_path))
        else:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
        return cast(Function, dispatcher)

    return compiled


def one_dtype(fields: Any, align: bool = True) -> np.dtype:
    """Return the structured dtype of some fields: one object for all who ask for the same.

    Numba looks up a kernel by the types of its arguments. A dtype that is equal and another object costs it a
    comparison of all fields in every call: a tenth of a step where many worlds have one each.
    """
    kind = np.dtype(fields, align=align)
    return _DTYPES.setdefault(kind, kind)


def first_start() -> str:
    """The end of a line that says what takes so long where hardly any kernel has been compiled yet, or ""."""
    compiled = sum(path.is_file() for path in _INDICES)
    return "; this first start compiles for some minutes" if compiled < FEW * len(_INDICES) else ""


def _share(cache_file: Any) -> None:
    """Let one process at a time save a kernel, and none load it meanwhile.

    Numba numbers the files of a kernel's signatures by an index that it reads first: two processes that
    compile different ones at once take the same number, and a third loads the one for the other.
    """
    for name, lock in (("save", fcntl.LOCK_EX), ("load", fcntl.LOCK_SH)):
        setattr(cache_file, name, _locked(getattr(cache_file, name), cache_file._cache_path, lock))


def _locked(method: Callable[..., Any], folder: str, lock: int) -> Callable[..., Any]:
    @wraps(method)
    def call(*arguments: Any) -> Any:
        with ExitStack() as stack:
            try:
                handle = stack.enter_context(open(Path(folder) / LOCK_FILE, "a"))
                fcntl.flock(handle, lock)
            except OSError:
                pass  # nothing can be kept there: numba finds out itself
            return method(*arguments)

    return call


def fingerprint(function: FunctionType, known: dict[FunctionType, str]) -> str:
    """Hash of a function, and of the kernels and constants that it uses.

    Args:
        function: Not compiled.
        known: Those of other functions, which is added to.
    """
    if function not in known:
        known[function] = ""  # for one that calls itself
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        parts = [*_parts((function.__defaults__, cells), function.__code__.co_names, known, set())]
        parts += _parts_of_code(function.__code__, function.__globals__, known)
        parts += _fields_of_arguments(function)
        known[function] = _digest(parts)
    return known[function]


def _fields_of_arguments(function: FunctionType) -> Iterator[str]:
    """Fields of the named tuples that a kernel is annotated to take, which are compiled to their places."""
    for annotation in function.__annotations__.values():
        kind = function.__globals__.get(annotation) if isinstance(annotation, str) else annotation
        if isinstance(kind, type) and issubclass(kind, tuple):
            yield repr((kind.__qualname__, getattr(kind, "_fields", ())))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _parts_of_code(
    code: CodeType, scope: dict[str, Any], known: dict[FunctionType, str]
) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts_of_code(constant, scope, known)
        else:
            yield from _parts(constant, (), known, set())
    # Names of attributes are among them: a few parts too many do no harm
    for name in code.co_names:
        if name in scope:
            yield from _parts(scope[name], code.co_names, known, set())


def _parts(
    value: Any, names: Iterable[str], known: dict[FunctionType, str], met: set[int]
) -> Iterator[str]:
    """What a value is made of, in words that are the same in every process.

    Args:
        value: What a kernel refers to.
        names: The attributes that it may ask for.
        known: See `fingerprint`.
        met: Ids of modules and classes that were gone into, which is added to.
    """
    if isinstance(value, _PLAIN):
        yield repr(value)
    elif isinstance(value, np.ndarray):
        yield repr((value.dtype, value.shape, hashlib.sha256(value.tobytes()).hexdigest()))
    elif isinstance(value, tuple | list):
        yield type(value).__qualname__
        for part in value:
            yield from _parts(part, names, known, met)
    elif isinstance(value, set | frozenset):
        yield repr(sorted(map(repr, value)))
    elif isinstance(value, dict):
        for key, part in value.items():
            yield repr(key)
            yield from _parts(part, names, known, met)
    elif isinstance(value, ModuleType | type):
        yield getattr(value, "__qualname__", value.__name__)
        if id(value) not in met:
            met.add(id(value))
            for name in names:
                if name in vars(value):
                    yield from _parts(vars(value)[name], names, known, met)
    else:
        # A kernel, an intrinsic, or what numba knows by itself
        function = getattr(value, "py_func", None) or getattr(value, "_defn", None)
        if not isinstance(function, FunctionType):
            yield f"{type(value).__qualname__} {getattr(value, '__name__', '')}"
        elif known.get(function) != "":  # it does not call itself
            yield fingerprint(function, known)
            yield from _parts(getattr(value, "targetoptions", None), (), known, met)
