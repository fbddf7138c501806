from live.episodes import Episodes


def test_after_the_last_episode_of_a_file_comes_the_first():
    episodes = Episodes.find("pick", "val", None)
    assert episodes.count == 200
    _, first = episodes.asked(0)
    assert episodes.asked(episodes.count) == (0, first)
    assert episodes.asked(1)[1] != first
