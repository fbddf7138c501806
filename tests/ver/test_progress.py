import math

import pytest

from ver.progress import Progress


def test_counts_are_all_ranks_and_means_are_of_the_last_episodes():
    progress = Progress(window=3)
    progress.faults = {"hung": 1, "died": 0}
    progress.add(
        [
            ([{"success": 0.0}, {"success": 1.0}], {"hung": 1, "died": 0}),
            ([{"success": 1.0, "length": 7.0}, {"success": 0.0}], {"hung": 2, "died": 3}),
        ]
    )
    progress.steps = 64
    row = progress.row()
    assert (row["steps"], row["episodes"]) == (64.0, 4.0)
    assert row["episode/success"] == pytest.approx(2 / 3)  # the first has left the window
    assert row["episode/length"] == progress.episode_mean("length") == 7.0
    assert math.isnan(progress.episode_mean("reward"))
    assert (row["faults/hung"], row["faults/died"]) == (3.0, 3.0)


def test_what_a_checkpoint_keeps_is_restored_and_counts_as_a_resume():
    progress = Progress(window=2)
    progress.steps, progress.seconds, progress.faults = 10, 1.5, {"hung": 1}
    progress.add([([{"success": 1.0}], {"hung": 1}), ([], {"hung": 4})])
    for main, faults in ((True, {"hung": 5}), (False, {})):
        again = Progress(window=2)
        again.restore(progress.values(), main)
        assert (again.steps, again.episodes, again.seconds) == (10, 1, 1.5)
        assert (again.resumes, again.faults) == (1, faults)
        assert again.episode_mean("success") == 1.0


def test_faults_are_counted_on_where_a_collector_counts_its_own():
    progress, counts = Progress(window=1), {"hung": 1, "died": 0}
    progress.faults = {"hung": 2}
    progress.count_faults_in(counts)
    assert counts == {"hung": 3, "died": 0}
    counts["died"] += 1
    assert progress.row()["faults/died"] == 1.0
