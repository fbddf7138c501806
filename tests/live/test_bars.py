from live.bars import bars


def test_bars_go_to_the_right_or_to_the_left_of_the_middle():
    ahead, back = bars("action", {"ahead": 0.5, "<back>": -2.0}, 1.0, 2).split("&lt;back&gt;")
    assert "left:50.0%;width:25.0%" in ahead
    assert "+0.50" in ahead
    assert "left:0.0%;width:50.0%" in back
    assert "-2.00" in back
