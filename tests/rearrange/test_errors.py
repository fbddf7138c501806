import pytest

from rearrange.errors import UserError, check_choice


def test_a_name_is_one_of_those_that_there_are():
    assert check_choice("fruit", "pear", ("apple", "pear")) == "pear"
    with pytest.raises(UserError, match=r"^unknown fruit 'fig': choose one of apple, pear$"):
        check_choice("fruit", "fig", {"apple": 1, "pear": 2})
