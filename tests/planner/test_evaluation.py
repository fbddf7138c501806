"""Episodes of an evaluation and the workers that play them."""

from planner import evaluation


def test_seed_decides_the_episodes(stage):
    def seeds(seed):
        stage.world.seeds.clear()
        settings = evaluation.EvaluationSettings("tidy_house", episodes=2, seed=seed)
        list(evaluation.run_episodes(settings, workers=1))
        return list(stage.world.seeds)

    assert seeds(1) == seeds(1)
    assert not set(seeds(1)) & set(seeds(2))


def test_worker_count_does_not_exceed_the_episodes(stage):
    settings = evaluation.EvaluationSettings("tidy_house", episodes=1)
    assert [r.index for r in evaluation.run_episodes(settings, workers=8)] == [0]
