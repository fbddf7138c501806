from rearrange.navigation.sight import sees


def test_line_of_sight(grid):
    def clear(start, end, radius):
        return sees(grid.clearance, *grid.origin, grid.cell, *start, *end, radius)

    assert clear((2.0, 1.0), (4.0, 3.0), 0.29)
    assert not clear((2.0, 1.0), (8.0, 1.0), 0.29)
    assert clear((4.0, 4.4), (6.0, 4.4), 0.29)
    assert not clear((4.0, 4.2), (6.0, 4.2), 0.29)
    assert clear((4.0, 4.2), (6.0, 4.2), 0.14)
