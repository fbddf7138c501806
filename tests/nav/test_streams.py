"""Random numbers in kernels: NumPy's own, and the generator goes on behind them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nav.streams import draw_below, draw_double, stream_of

seeds = st.integers(0, 2**32 - 1)
# Of those near 2^32 many numbers are drawn anew
counts = st.integers(1, 300) | st.integers(2**31, 2**32 - 1) | st.sampled_from([1, 2, 2**31 + 1])
draws = st.lists(st.none() | counts, min_size=1, max_size=40)


@given(seed=seeds, wanted=draws)
def test_kernels_draw_what_the_generator_would(seed, wanted):
    """None stands for a number in [0, 1); what either draws in turn goes on behind the other."""
    own, inside = np.random.default_rng(seed), np.random.default_rng(seed)
    stream = stream_of(inside)
    for count in wanted:
        if count is None:
            assert draw_double(stream) == own.random()
        else:
            assert draw_below(stream, count) == own.integers(count)
        assert inside.bit_generator.state == own.bit_generator.state


@pytest.mark.parametrize("kind", ["MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_any_bit_generator_will_do(kind):
    own, inside = (np.random.Generator(getattr(np.random, kind)(3)) for _ in range(2))
    stream = stream_of(inside)
    for count in (5, 2**31 + 1, 7):
        assert draw_double(stream) == own.random()
        assert draw_below(stream, count) == own.integers(count)
