from rearrange.navigation import (
    in_line_of_sight,
)


def test_line_of_sight(grid):
    assert in_line_of_sight(grid, (2.0, 1.0), (4.0, 3.0))
    assert not in_line_of_sight(grid, (2.0, 1.0), (8.0, 1.0))
    assert in_line_of_sight(grid, (4.0, 4.4), (6.0, 4.4))
    assert not in_line_of_sight(grid, (4.0, 4.2), (6.0, 4.2))
    assert in_line_of_sight(grid, (4.0, 4.2), (6.0, 4.2), radius=0.15)
