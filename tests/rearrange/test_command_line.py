from argparse import Namespace

import pytest

from rearrange.command_line import check_counts, refuse
from rearrange.errors import UserError


def test_a_count_below_its_least_value_is_named():
    options = Namespace(episodes=1, max_steps=0, workers=None, seed=0)
    check_counts(options, "episodes", "workers")
    check_counts(options, "seed", least=0)
    with pytest.raises(UserError, match=r"^--max-steps must be at least 1, found 0$"):
        check_counts(options, "episodes", "max_steps")
    with pytest.raises(UserError, match=r"^--seed must not be negative, found -1$"):
        check_counts(Namespace(seed=-1), "seed", least=0)


def test_an_option_that_does_not_go_with_another_is_named():
    options = Namespace(video=False, record_hand_offs="x", replan=0)
    refuse(options, "leave out {option}", video=False, replan=0)
    with pytest.raises(UserError, match=r"^--plan-only: leave out --record-hand-offs$"):
        refuse(options, "--plan-only: leave out {option}", video=False, record_hand_offs=None)
