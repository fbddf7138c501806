import pytest

from tests.helpers.checked_system import check_system
from ver.errors import UserError


def test_rollouts_that_end_early_are_refused_where_collection_overlaps():
    with pytest.raises(UserError, match=r"preemption=none, found fixed") as error:
        check_system("system=htsrl", "distributed.preemption=fixed")
    assert "\n" not in str(error.value)
