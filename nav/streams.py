"""Random numbers of a NumPy generator inside kernels: those that its own methods would draw, in their order.

A kernel is given the address of the generator's table of C functions, NumPy's `bitgen_t`. Whoever calls it
keeps the generator, and no other thread draws from it meanwhile.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rearrange.caching import cached_njit

# Places in `bitgen_t`: state, next_uint64, next_uint32, next_double, next_raw
NEXT_UINT32, NEXT_DOUBLE = 2, 3
LOW = np.uint64(2**32 - 1)
_CAPSULE = b"BitGenerator"
_address_in = ctypes.pythonapi.PyCapsule_GetPointer
_address_in.restype, _address_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def stream_of(rng: np.random.Generator) -> int:
    """Address of a generator's table of functions, for kernels; good as long as the generator is kept."""
    return _address_in(rng.bit_generator.capsule, _CAPSULE)


def _call(builder: Any, table: Any, place: int, result: Any) -> Any:
    """Write the call of a function of a table, which takes the state and nothing else."""
    word, state_type = ir.IntType(64), ir.IntType(8).as_pointer()
    rows = builder.inttoptr(table, word.as_pointer())
    state = builder.inttoptr(builder.load(rows), state_type)
    entry = builder.load(builder.gep(rows, [ir.Constant(word, place)]))
    function = builder.inttoptr(entry, ir.FunctionType(result, [state_type]).as_pointer())
    return builder.call(function, [state])


@intrinsic
def _next_double(_, stream):  # type: ignore[no-untyped-def]
    """Call `next_double`."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _call(builder, arguments[0], NEXT_DOUBLE, ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def _next_uint32(_, stream):  # type: ignore[no-untyped-def]
    """Call `next_uint32`."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _call(builder, arguments[0], NEXT_UINT32, ir.IntType(32))

    return types.uint32(types.int64), generate


@cached_njit
def draw_double(stream: int) -> float:
    """A number in [0, 1), as of `Generator.random`."""
    return _next_double(stream)  # pyright: ignore


@cached_njit
def _next_word(stream: int) -> Any:
    """32 random bits as uint64."""
    return np.uint64(_next_uint32(stream))  # pyright: ignore


@cached_njit
def draw_below(stream: int, count: int) -> int:
    """A number in [0, count), as of `Generator.integers(count)`, for counts from 1 to 2^32 - 1.

    Numbers are multiplied into the range, and those drawn anew that would make some more likely (Lemire 2019,
    "Fast random integer generation in an interval").
    """
    if count == 1:
        return 0  # nothing is drawn
    choices = np.uint64(count)
    product = _next_word(stream) * choices
    if product & LOW < choices:
        least = np.uint64(2**32 - count) % choices
        while product & LOW < least:
            product = _next_word(stream) * choices
    return np.int64(product >> np.uint64(32))  # pyright: ignore
