"""Verdicts on a paper's claims."""

import pytest

from experiments.claims import (
    DIFFERENCE,
    FAILS,
    HOLDS,
    OPEN,
    UNMEASURED,
    VALUE,
    Claim,
    told_reference,
)
from rearrange.errors import UserError


def rows(**values: list[float | None]) -> list[dict]:
    """Rows of arms, one seed after the other."""
    return [
        {"arm": arm, "seed": seed, "sps": value}
        for arm, each in values.items()
        for seed, value in enumerate(each, 1)
    ]


FASTER = Claim("a is faster", "sps", "a", "b", least=1.0)


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([20.0, 21.0, 19.0], [10.0, 10.0, 10.0], HOLDS),
        ([5.0, 5.1, 4.9], [10.0, 10.0, 10.0], FAILS),
        ([20.0, 5.0, 10.0], [10.0, 10.0, 10.0], OPEN),
        ([20.0, 21.0], [10.0, 10.0], OPEN),  # two seeds have no interval
        ([20.0, 21.0, None], [10.0, 10.0, 10.0], OPEN),  # one never got there
        ([], [10.0, 10.0, 10.0], UNMEASURED),
    ],
)
def test_a_ratio_is_judged_by_its_interval_over_seeds(a, b, verdict):
    assert FASTER.judge(rows(a=a, b=b))["verdict"] == verdict


def test_seeds_are_compared_one_by_one():
    """A seed whose machine is twice as slow does not blur the ratio."""
    ours = FASTER.judge(rows(a=[20.0, 10.0, 40.0], b=[10.0, 5.0, 20.0]))["ours"]
    assert ours == pytest.approx({"seeds": 3, "known": 3, "mean": 2.0, "low": 2.0, "high": 2.0})


def test_an_interval_is_students():
    claim = Claim("a is large", "sps", "a", by=VALUE, least=0.0)
    ours = claim.judge(rows(a=[1.0, 2.0, 3.0]))["ours"]
    assert ours["mean"] == 2.0
    assert ours["high"] - ours["mean"] == pytest.approx(4.302653 / 3**0.5, rel=1e-5)


def test_nothing_at_all_is_not_above_nothing():
    claim = Claim("a gets there at times", "sps", "a", by=VALUE, least=0.0)
    assert claim.judge(rows(a=[0.0] * 5))["verdict"] == FAILS
    assert claim.judge(rows(a=[0.0, 0.1, 0.0]))["verdict"] == OPEN


def test_about_the_same_has_two_ends():
    same = Claim("alike", "sps", "a", "b", DIFFERENCE, -0.1, 0.1)
    assert same.range == "-0.1 to 0.1"
    near, far = [0.51, 0.5, 0.49], [0.9, 0.91, 0.89]
    assert same.judge(rows(a=near, b=[0.5] * 3))["verdict"] == HOLDS
    assert same.judge(rows(a=far, b=[0.5] * 3))["verdict"] == FAILS


def test_a_claim_without_a_range_or_a_comparison_is_refused():
    with pytest.raises(ValueError, match="no range"):
        Claim("a is faster", "sps", "a", "b")
    with pytest.raises(ValueError, match="compares nothing"):
        Claim("a is faster", "sps", "a", least=1.0)


def test_the_papers_figure_is_told_as_markers_do():
    references = {"speed": {"ver": 428, "ddppo": 174, "over": 2.5}}
    assert told_reference(references, "") == "no figure"
    assert told_reference(references, "speed.over") == "2.5"
    assert told_reference(references, "speed.ver / speed.ddppo;.1f") == "2.5"
    with pytest.raises(UserError, match="no 'under'"):
        told_reference(references, "speed.under")
