import pytest

from live.episodes import Episodes, came_of


def test_after_the_last_episode_of_a_file_comes_the_first():
    episodes = Episodes.find("pick", "val", None)
    assert episodes.count == 200
    _, first = episodes.asked(0)
    assert episodes.asked(episodes.count) == (0, first)
    assert episodes.asked(1)[1] != first


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ({"success": 1.0, "failure/timeout": 0.0}, "success, 12 steps"),
        ({"success": 0.0, "failure/step_limit": 1.0}, "failed: step limit, 12 steps"),
        ({"success": 0.0}, "failed: not done, 12 steps"),
        ({"success": 1.0, "spl": 0.5}, "success, 12 steps, SPL 0.50"),
        ({"score": 3.0}, "score 3.00 after 12 steps"),
        ({}, "score 0.00 after 12 steps"),
    ],
)
def test_what_came_of_an_episode_is_told_in_a_few_words(metrics, told):
    assert came_of({"length": 12.0, **metrics}) == told
